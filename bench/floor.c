/* The least a hook can do: read all of stdin, answer with 54 bytes of JSON, exit. Linked statically, because the
 * dynamic loader alone costs twice as much as this program. So F is the cost of starting a program, not of running it. */
#include <unistd.h>

static char input[65536];
static const char answer[] = "{\"decision\": \"allow\", \"reason\": \"nothing seems amiss\"}";

int main(void) {
    while (read(0, input, sizeof input) > 0) {
    }
    return write(1, answer, sizeof answer - 1) == sizeof answer - 1 ? 0 : 1;
}
