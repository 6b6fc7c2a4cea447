// The gradient of `benches/shaders/gradients/series.ssl`, written by hand: what a person who knows C and the derivative
// would write, with the coefficients in a table. `long_loop N` prints nanoseconds for one element, first with 16
// elements together, then with one after the other, and the gradient at x = 0.75. N is at most 256.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ELEMENTS = 1 << 16, LANES = 16, MOST = 256, ROUNDS = 15 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

static float coefficients[MOST];
static float x[ELEMENTS] __attribute__((aligned(64))), gradient[ELEMENTS] __attribute__((aligned(64)));

// Defines the gradient for a type that + and * work on.
#define GRADIENT(name, T)                                                   \
    static T name(T at, int n)                                              \
    {                                                                       \
        T opposite = -at * at, term = at, kept[MOST];                       \
        for (int j = 1; j < n; j++) {                                       \
            kept[j] = term;                                                 \
            term = term * (opposite * coefficients[j]);                     \
        }                                                                   \
        T by_term = at - at, by_opposite = at - at;                         \
        for (int j = n - 1; j >= 1; j--) {                                  \
            by_opposite = by_opposite + by_term * kept[j] * coefficients[j]; \
            by_term = by_term * (opposite * coefficients[j]) + 1.0f;        \
        }                                                                   \
        return by_term - by_opposite * (2.0f * at);                         \
    }
GRADIENT(together, lanes)
GRADIENT(alone, float)

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int count, char **arguments)
{
    int n = count > 1 ? atoi(arguments[1]) : 0;
    if (n < 1 || n > MOST) return fprintf(stderr, "long_loop N, with N from 1 to %d\n", MOST), 2;
    for (int j = 1; j < n; j++) coefficients[j] = 1.0f / (2 * j) * (2 * j + 1);
    for (int i = 0; i < ELEMENTS; i++) x[i] = 0.75f + 0.25f * i / ELEMENTS;
    double best[2] = {1e9, 1e9};
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        for (int i = 0; i < ELEMENTS; i += LANES) *(lanes *)(gradient + i) = together(*(lanes *)(x + i), n);
        double middle = seconds();
        volatile float first = gradient[0];
        (void)first;
        double again = seconds();
        for (int i = 0; i < ELEMENTS; i++) gradient[i] = alone(x[i], n);
        double end = seconds();
        if (middle - start < best[0]) best[0] = middle - start;
        if (end - again < best[1]) best[1] = end - again;
    }
    printf("%.3f %.3f %.6f\n", best[0] / ELEMENTS * 1e9, best[1] / ELEMENTS * 1e9, gradient[0]);
    return 0;
}
