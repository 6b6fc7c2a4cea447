// Soft disks and boxes over a picture, and the gradient by their numbers, as `benches/shaders/gradients/shapes.ssl` has them:
// what a person who knows C and the derivative would write for one thread. Disks and boxes take turns; seven numbers each.
//
//   shapes SHAPES WIDTH NUMBERS COTANGENT
//
// NUMBERS holds the floats of one shape after the other, and COTANGENT three floats a pixel. Prints `ns` with the nanoseconds
// a pixel and shape of the picture and of the gradient, `sum` with the sum of the picture weighted by the cotangent, and
// `gradient` with the seven derivatives of each shape.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NUMBERS = 7, ROUNDS = 3 };
static const float SHARPNESS = 40.0f;

static int shapes, width;
static float *numbers, *gradient;
// A plane for each color, so that pixels lie side by side.
static float *image[3], *cotangent[3];

static void *zeros(size_t count, size_t of)
{
    void *memory = calloc(count ? count : 1, of);
    if (!memory) exit((fprintf(stderr, "there is no memory\n"), 1));
    return memory;
}

static float *floats_of(const char *path, size_t count)
{
    FILE *file = fopen(path, "rb");
    float *floats = zeros(count, sizeof *floats);
    if (!file || fread(floats, sizeof *floats, count, file) != count)
        exit((fprintf(stderr, "%s does not hold %zu floats\n", path, count), 1));
    fclose(file);
    return floats;
}

static float coverage(float distance) { return 1.0f / (1.0f + expf(SHARPNESS * distance)); }
static float larger(float a, float b) { return a > b ? a : b; }
static float smaller(float a, float b) { return a < b ? a : b; }

static void draw(void)
{
    for (int c = 0; c < 3; c++) memset(image[c], 0, (size_t)width * width * sizeof(float));
    for (int i = 0; i < shapes; i++) {
        const float *n = numbers + NUMBERS * i;
        for (int row = 0; row < width; row++) {
            float y = (row + 0.5f) / width - n[1];
            float *r = image[0] + row * width, *g = image[1] + row * width, *b = image[2] + row * width;
            for (int column = 0; column < width; column++) {
                float x = (column + 0.5f) / width - n[0], distance;
                if (i % 2 == 0) {
                    distance = sqrtf(x * x + y * y + 1e-6f) - n[2];
                } else {
                    float u = fabsf(x) - n[2], v = fabsf(y) - n[3], p = larger(u, 0.0f), q = larger(v, 0.0f);
                    distance = sqrtf(p * p + q * q + 1e-6f) + smaller(larger(u, v), 0.0f);
                }
                float covered = coverage(distance);
                r[column] += n[4] * covered, g[column] += n[5] * covered, b[column] += n[6] * covered;
            }
        }
    }
}

static void sweep(void)
{
    for (int i = 0; i < shapes; i++) {
        const float *n = numbers + NUMBERS * i;
        float by_x = 0, by_y = 0, by_width = 0, by_height = 0, by_r = 0, by_g = 0, by_b = 0;
        for (int row = 0; row < width; row++) {
            float y = (row + 0.5f) / width - n[1];
            const float *r = cotangent[0] + row * width, *g = cotangent[1] + row * width, *b = cotangent[2] + row * width;
            for (int column = 0; column < width; column++) {
                float x = (column + 0.5f) / width - n[0];
                float lit = n[4] * r[column] + n[5] * g[column] + n[6] * b[column], covered;
                if (i % 2 == 0) {
                    float length = sqrtf(x * x + y * y + 1e-6f);
                    covered = coverage(length - n[2]);
                    float by_distance = -SHARPNESS * covered * (1.0f - covered) * lit;
                    by_x -= by_distance * x / length;
                    by_y -= by_distance * y / length;
                    by_width -= by_distance;
                } else {
                    float u = fabsf(x) - n[2], v = fabsf(y) - n[3], p = larger(u, 0.0f), q = larger(v, 0.0f);
                    float length = sqrtf(p * p + q * q + 1e-6f), most = larger(u, v);
                    covered = coverage(length + smaller(most, 0.0f));
                    float by_distance = -SHARPNESS * covered * (1.0f - covered) * lit;
                    float by_u = by_distance * (p / length + (most < 0.0f && u > v ? 1.0f : 0.0f));
                    float by_v = by_distance * (q / length + (most < 0.0f && u <= v ? 1.0f : 0.0f));
                    by_width -= by_u;
                    by_height -= by_v;
                    by_x -= x > 0.0f ? by_u : -by_u;
                    by_y -= y > 0.0f ? by_v : -by_v;
                }
                by_r += covered * r[column], by_g += covered * g[column], by_b += covered * b[column];
            }
        }
        float all[NUMBERS] = {by_x, by_y, by_width, by_height, by_r, by_g, by_b};
        memcpy(gradient + NUMBERS * i, all, sizeof all);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int count, char **words)
{
    if (count != 5) return fprintf(stderr, "shapes SHAPES WIDTH NUMBERS COTANGENT\n"), 2;
    shapes = atoi(words[1]), width = atoi(words[2]);
    if (shapes < 1 || shapes > 1 << 20 || width < 1 || width > 1 << 13)
        return fprintf(stderr, "a number is out of range\n"), 2;
    size_t pixels = (size_t)width * width;
    numbers = floats_of(words[3], (size_t)NUMBERS * shapes);
    gradient = zeros((size_t)NUMBERS * shapes, sizeof(float));
    float *interleaved = floats_of(words[4], 3 * pixels);
    for (int c = 0; c < 3; c++) {
        image[c] = zeros(pixels, sizeof(float));
        cotangent[c] = zeros(pixels, sizeof(float));
        for (size_t i = 0; i < pixels; i++) cotangent[c][i] = interleaved[3 * i + c];
    }
    double drawing = 1e9, sweeping = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        draw();
        double middle = seconds();
        sweep();
        double end = seconds();
        if (middle - start < drawing) drawing = middle - start;
        if (end - middle < sweeping) sweeping = end - middle;
    }
    double all = (double)pixels * shapes * 1e-9, sum = 0;
    printf("ns %.4f %.4f\n", drawing / all, sweeping / all);
    for (int c = 0; c < 3; c++)
        for (size_t i = 0; i < pixels; i++) sum += (double)image[c][i] * cotangent[c][i];
    printf("sum %.9g\n", sum);
    for (int i = 0; i < shapes; i++) {
        printf("gradient");
        for (int k = 0; k < NUMBERS; k++) printf(" %.9g", gradient[NUMBERS * i + k]);
        printf("\n");
    }
    return 0;
}
