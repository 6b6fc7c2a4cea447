// A step of fitting the Gaussian splats of `scenes/splats/splats.ssl`, written by hand: what a person who knows C and the
// derivative would write for one thread. Nine numbers a blob, lists for tiles of 16 by 16 pixels, blending from front to
// back, a sweep that takes the blending back, and Adam.
//
//   splats BLOBS STEPS WIDTH HEIGHT SIZE TARGET START
//
// TARGET holds the picture, three floats a pixel, and START the blobs, all of their first numbers, then all of their
// second ones. SIZE is how large blobs are. Prints `psnr STEP DECIBELS` for some steps, before each is taken, and last
// `ms` with the milliseconds a step: all, lists, blending, sweep, Adam.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 16, PIXELS = SIDE * SIDE, NUMBERS = 9 };
// What lets less light pass is opaque; no blob covers more than this.
static const float OPAQUE = 1.0f / 255.0f, MOST = 0.99f;

// A blob as pixels see it. Its gradient has the same numbers.
typedef struct {
    float x, y, xx, yy, xy, r, g, b, opacity;
} splat;

// Its covariance in units of the size, and the pixels where it shows.
typedef struct {
    float a, b, skew;
    float left, right, low, high;
} extent;

static int blobs, width, height, across, down;
static float size;
static float *parameters, *gradient, *first_moment, *second_moment, *target;
static splat *splats, *splat_gradient;
static extent *extents;
// The list of a tile begins at its start and ends at that of the next.
static int *starts, *lists;
static size_t room;

static void *zeros(size_t count, size_t of)
{
    void *memory = calloc(count ? count : 1, of);
    if (!memory) exit((fprintf(stderr, "there is no memory\n"), 1));
    return memory;
}

static float smooth(float x)
{
    float y = fminf(fmaxf(x, 0.0f), 1.0f);
    return y * y * (3.0f - 2.0f * y);
}

static float slope(float x)
{
    return x <= 0.0f || x >= 1.0f ? 0.0f : 6.0f * x * (1.0f - x);
}

// The numbers that are smooth steps of a multiple of a parameter, plus something.
static const float SCALE[NUMBERS] = {1, 1, 0.8f, 0.8f, 0.6f, 0.8f, 0.8f, 0.8f, 0.9f};
static const float SHIFT[NUMBERS] = {0, 0, 0, 0, 0, 0, 0, 0, 0.1f};

static float argument(int blob, int number)
{
    return parameters[number * blobs + blob] * SCALE[number] + SHIFT[number];
}

static void project(int i)
{
    float n[NUMBERS];
    for (int k = 0; k < NUMBERS; k++) n[k] = smooth(argument(i, k));
    extent *e = &extents[i];
    e->a = n[2] + 0.005f;
    e->b = n[3] + 0.005f;
    e->skew = (n[4] - 0.5f) * 1.65f;
    float xx = size * e->a, yy = size * e->b, xy = size * sqrtf(e->a * e->b) * e->skew;
    float determinant = xx * yy - xy * xy;
    splats[i] = (splat){n[0], n[1], yy / determinant, xx / determinant, -xy / determinant, n[5], n[6], n[7], n[8]};
    // Where its opacity is above 1/255.
    float reach = sqrtf(fmaxf(0.0f, 2.0f * logf(fmaxf(n[8] * 255.0f, 1.0f))));
    e->left = (n[0] - reach * sqrtf(xx)) * width;
    e->right = (n[0] + reach * sqrtf(xx)) * width;
    e->low = (n[1] - reach * sqrtf(yy)) * height;
    e->high = (n[1] + reach * sqrtf(yy)) * height;
}

static int at_most(int a, int b) { return a < b ? a : b; }
static int at_least(int a, int b) { return a > b ? a : b; }

// Counts how many blobs each tile sees, then puts them into the lists in their order.
static void fill_lists(void)
{
    int tiles = across * down;
    static int *next;
    if (!next) next = zeros(tiles + 1, sizeof *next);
    memset(next, 0, (tiles + 1) * sizeof *next);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < blobs; i++) {
            const extent *e = &extents[i];
            int x0 = at_least(0, (int)floorf(e->left / SIDE)), x1 = at_most(across - 1, (int)floorf(e->right / SIDE));
            int y0 = at_least(0, (int)floorf(e->low / SIDE)), y1 = at_most(down - 1, (int)floorf(e->high / SIDE));
            for (int y = y0; y <= y1; y++)
                for (int x = x0; x <= x1; x++) {
                    int tile = y * across + x;
                    if (pass == 0) next[tile]++;
                    else lists[next[tile]++] = i;
                }
        }
        if (pass == 1) break;
        int total = 0;
        for (int t = 0; t <= tiles; t++) {
            int count = t < tiles ? next[t] : 0;
            starts[t] = next[t] = total;
            total += count;
        }
        if ((size_t)total > room) {
            free(lists);
            room = 2 * (size_t)total;
            lists = zeros(room, sizeof *lists);
        }
    }
}

// The pixels of a tile: color and transmittance, how many of the list each has taken, and later the cotangents.
typedef struct {
    float x[PIXELS], y[PIXELS], r[PIXELS], g[PIXELS], b[PIXELS], t[PIXELS];
    float r_bar[PIXELS], g_bar[PIXELS], b_bar[PIXELS], t_bar[PIXELS];
    int taken[PIXELS];
} tile_pixels;

// The rows of a tile in which a blob shows, as pixels from and to.
static void rows(const extent *e, int top, int *from, int *to)
{
    *from = SIDE * at_least(0, (int)ceilf(e->low) - top);
    *to = SIDE * at_most(SIDE, (int)floorf(e->high) - top + 1);
}

static void blend(tile_pixels *p, const int *list, int count, int left, int top)
{
    for (int k = 0; k < PIXELS; k++) {
        p->x[k] = (float)(left + k % SIDE) / width;
        p->y[k] = (float)(top + k / SIDE) / height;
        p->r[k] = p->g[k] = p->b[k] = 0.0f;
        p->t[k] = 1.0f;
        p->taken[k] = 0;
    }
    for (int n = 0; n < count; n++) {
        const splat s = splats[list[n]];
        int from, to;
        rows(&extents[list[n]], top, &from, &to);
#pragma GCC ivdep
        for (int k = from; k < to; k++) {
            float dx = p->x[k] - s.x, dy = p->y[k] - s.y;
            float power = -0.5f * (dx * dx * s.xx + dy * dy * s.yy + 2.0f * dx * dy * s.xy);
            float w = fminf(MOST, s.opacity * expf(power));
            int open = p->t[k] >= OPAQUE;
            float seen = open ? w * p->t[k] : 0.0f;
            p->r[k] += s.r * seen;
            p->g[k] += s.g * seen;
            p->b[k] += s.b * seen;
            p->t[k] -= seen;
            p->taken[k] = open ? n + 1 : p->taken[k];
        }
    }
}

// The sum of the squares of what is missing, and by how much the mean changes with color and transmittance.
static double compare(tile_pixels *p, int left, int top)
{
    double sum = 0.0;
    float by = 2.0f / ((float)width * (float)height);
    for (int k = 0; k < PIXELS; k++) {
        int x = left + k % SIDE, y = top + k / SIDE;
        p->r_bar[k] = p->g_bar[k] = p->b_bar[k] = p->t_bar[k] = 0.0f;
        if (x >= width || y >= height) continue;
        // The picture stands over white.
        float covered = 1.0f - p->t[k];
        const float *wanted = &target[3 * (y * width + x)];
        float r = p->r[k] * covered + p->t[k] - wanted[0];
        float g = p->g[k] * covered + p->t[k] - wanted[1];
        float b = p->b[k] * covered + p->t[k] - wanted[2];
        sum += r * r + g * g + b * b;
        p->r_bar[k] = by * r * covered;
        p->g_bar[k] = by * g * covered;
        p->b_bar[k] = by * b * covered;
        p->t_bar[k] = by * (r * (1.0f - p->r[k]) + g * (1.0f - p->g[k]) + b * (1.0f - p->b[k]));
    }
    return sum;
}

// From the last blob of the list to the first: takes back what it did to the transmittance, and adds up its gradient.
static void sweep(tile_pixels *p, const int *list, int count, int top)
{
    for (int n = count - 1; n >= 0; n--) {
        const splat s = splats[list[n]];
        float x = 0, y = 0, xx = 0, yy = 0, xy = 0, r = 0, g = 0, b = 0, opacity = 0;
        int from, to;
        rows(&extents[list[n]], top, &from, &to);
#pragma GCC ivdep
        for (int k = from; k < to; k++) {
            float dx = p->x[k] - s.x, dy = p->y[k] - s.y;
            float power = -0.5f * (dx * dx * s.xx + dy * dy * s.yy + 2.0f * dx * dy * s.xy);
            float bell = expf(power), free = s.opacity * bell;
            float took = n < p->taken[k] ? 1.0f : 0.0f, w = took * fminf(MOST, free);
            float before = p->t[k] / (1.0f - w), seen = w * before;
            float color_bar = p->r_bar[k] * s.r + p->g_bar[k] * s.g + p->b_bar[k] * s.b;
            float w_bar = (free < MOST ? took : 0.0f) * before * (color_bar - p->t_bar[k]);
            float power_bar = w_bar * free;
            r += p->r_bar[k] * seen;
            g += p->g_bar[k] * seen;
            b += p->b_bar[k] * seen;
            opacity += w_bar * bell;
            x += power_bar * (dx * s.xx + dy * s.xy);
            y += power_bar * (dy * s.yy + dx * s.xy);
            xx -= 0.5f * power_bar * dx * dx;
            yy -= 0.5f * power_bar * dy * dy;
            xy -= power_bar * dx * dy;
            p->t_bar[k] = w * color_bar + (1.0f - w) * p->t_bar[k];
            p->t[k] = before;
        }
        splat *into = &splat_gradient[list[n]];
        into->x += x, into->y += y, into->xx += xx, into->yy += yy, into->xy += xy;
        into->r += r, into->g += g, into->b += b, into->opacity += opacity;
    }
}

// From the gradient by a splat to that by the nine numbers of its blob. The inverse P of the covariance C changes by
// -P dC P.
static void pull_back(int i)
{
    const splat s = splats[i], d = splat_gradient[i];
    const extent *e = &extents[i];
    float by_xx = -(d.xx * s.xx * s.xx + d.xy * s.xx * s.xy + d.yy * s.xy * s.xy);
    float by_yy = -(d.xx * s.xy * s.xy + d.xy * s.xy * s.yy + d.yy * s.yy * s.yy);
    float by_xy = -(2.0f * d.xx * s.xx * s.xy + d.xy * (s.xx * s.yy + s.xy * s.xy) + 2.0f * d.yy * s.xy * s.yy);
    float root = sqrtf(e->a * e->b), by_root = by_xy * e->skew;
    float by[NUMBERS] = {
        d.x, d.y,
        size * (by_xx + by_root * 0.5f * e->b / root),
        size * (by_yy + by_root * 0.5f * e->a / root),
        size * by_xy * root * 1.65f,
        d.r, d.g, d.b, d.opacity,
    };
    for (int k = 0; k < NUMBERS; k++) gradient[k * blobs + i] = by[k] * SCALE[k] * slope(argument(i, k));
}

// Adam with constant corrections.
static void adam(void)
{
    for (int i = 0; i < NUMBERS * blobs; i++) {
        float g = gradient[i];
        float m = first_moment[i] = 0.9f * first_moment[i] + 0.1f * g;
        float v = second_moment[i] = 0.999f * second_moment[i] + 0.001f * g * g;
        parameters[i] -= 0.002f * (m / 0.1f) / (sqrtf(v / 0.001f) + 1e-8f);
    }
}

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * t.tv_sec + 1e-6 * t.tv_nsec;
}

static float *floats_of(const char *path, size_t count)
{
    float *list = zeros(count, sizeof *list);
    FILE *file = fopen(path, "rb");
    if (!file || fread(list, sizeof *list, count, file) != count)
        exit((fprintf(stderr, "%s does not hold %zu floats\n", path, count), 1));
    fclose(file);
    return list;
}

int main(int count, char **words)
{
    if (count != 8) return fprintf(stderr, "splats BLOBS STEPS WIDTH HEIGHT SIZE TARGET START\n"), 2;
    blobs = atoi(words[1]);
    int steps = atoi(words[2]);
    width = atoi(words[3]), height = atoi(words[4]), size = (float)atof(words[5]);
    if (blobs < 1 || blobs > 1 << 24 || steps < 1 || width < 1 || height < 1 || width > 1 << 14 || height > 1 << 14)
        return fprintf(stderr, "a number is out of range\n"), 2;
    size_t all = (size_t)NUMBERS * blobs;
    target = floats_of(words[6], (size_t)3 * width * height);
    parameters = floats_of(words[7], all);
    gradient = zeros(all, sizeof(float));
    first_moment = zeros(all, sizeof(float));
    second_moment = zeros(all, sizeof(float));
    splats = zeros(blobs, sizeof *splats);
    splat_gradient = zeros(blobs, sizeof *splat_gradient);
    extents = zeros(blobs, sizeof *extents);
    across = (width + SIDE - 1) / SIDE, down = (height + SIDE - 1) / SIDE;
    starts = zeros((size_t)across * down + 1, sizeof *starts);

    double in_lists = 0, in_blend = 0, in_sweep = 0, in_adam = 0;
    // The last round only looks at what the steps have come to. The first warms the caches, and is not timed.
    for (int step = 0; step <= steps; step++) {
        double start = milliseconds(), blending = 0, sweeping = 0, sum = 0;
        for (int i = 0; i < blobs; i++) project(i);
        fill_lists();
        double listed = milliseconds();
        memset(splat_gradient, 0, blobs * sizeof *splat_gradient);
        for (int tile = 0; tile < across * down; tile++) {
            static tile_pixels p;
            int left = tile % across * SIDE, top = tile / across * SIDE;
            const int *list = lists + starts[tile];
            int entries = starts[tile + 1] - starts[tile];
            double before = milliseconds();
            blend(&p, list, entries, left, top);
            double blended = milliseconds();
            sum += compare(&p, left, top);
            if (step < steps) sweep(&p, list, entries, top);
            blending += blended - before;
            sweeping += milliseconds() - blended;
        }
        if (step < 3 || step % 50 == 0 || step == steps)
            printf("psnr %d %.4f\n", step, -10.0 * log10(sum / (3.0 * width * height)));
        if (step == steps) break;
        double swept = milliseconds();
        for (int i = 0; i < blobs; i++) pull_back(i);
        double pulled = milliseconds();
        adam();
        if (step == 0 && steps > 1) continue;
        in_lists += listed - start, in_blend += blending;
        in_sweep += sweeping + pulled - swept, in_adam += milliseconds() - pulled;
    }
    int timed = steps > 1 ? steps - 1 : 1;
    double total = in_lists + in_blend + in_sweep + in_adam;
    printf("ms %.3f %.3f %.3f %.3f %.3f\n", total / timed, in_lists / timed, in_blend / timed, in_sweep / timed,
           in_adam / timed);
    return 0;
}
