/* The least a hook can do: read all of stdin, answer 54 bytes of JSON, leave. Linked statically, because the dynamic
 * loader alone costs twice this program; what is measured above it is then the price of starting it, not of itself. */
#include <unistd.h>

static char input[65536];
static const char answer[] = "{\"decision\": \"allow\", \"reason\": \"nothing seems amiss\"}";

int main(void) {
    while (read(0, input, sizeof input) > 0) {
    }
    return write(1, answer, sizeof answer - 1) == sizeof answer - 1 ? 0 : 1;
}
