"""A file with an open end, for the Stop hook to find."""


def total(prices):
    return sum(prices)  # FIXME: discounts
