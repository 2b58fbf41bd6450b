// SPDX-License-Identifier: Apache-2.0
/* A post in ROOT-Sim's style: towns on a torus keep letters in a list, and send them on to a
 * neighbor. Half of the letters are from rs_malloc(), and half are from malloc(). All letters
 * differ in length and content. The run ends when each town has received enough letters. Then each
 * town prints the number and the checksum of its letters, and its last random number. */
#include <ROOT-Sim.h>
#include <inttypes.h>
#include <string.h>

enum { EDGE = 12, SEEN_ENOUGH = 60, LENGTH_MOST = 200 };
/* LETTER needs more bits than the engine's own event types. */
enum { SORT = 1, LETTER = 0x40000001 };

struct letter {
    struct letter *next;
    unsigned length;
    char text[];
};

struct town {
    struct letter *letters;
    unsigned seen;
    uint64_t checksum;
};

static struct topology *map;

static void *memory(bool theirs, size_t bytes) { return theirs ? rs_malloc(bytes) : malloc(bytes); }

static void keep(struct town *town, const char *text, unsigned length) {
    struct letter *letter = memory(town->seen % 2 == 0, sizeof(*letter) + length);
    letter->next = town->letters;
    letter->length = length;
    memcpy(letter->text, text, length);
    town->letters = letter;
}

static void send_one(lp_id_t me, simtime_t now, struct town *town) {
    struct letter *letter = town->letters;
    char text[LENGTH_MOST];
    unsigned length = letter->length;
    memcpy(text, letter->text, length);
    text[length++] = (char)RandomRange('a', 'z');
    if (length == LENGTH_MOST) length = (unsigned)RandomRange(1, LENGTH_MOST / 2);
    town->letters = letter->next;
    rs_free(letter);
    const simtime_t delay = Random() < 0.2 ? Expent(0.01) : Expent(1);
    ScheduleNewEvent(GetReceiver(me, map, DIRECTION_RANDOM), now + delay, LETTER, text, length);
}

static void process(lp_id_t me, simtime_t now, unsigned type, const void *content, unsigned size,
                    void *state) {
    struct town *town = state;
    switch (type) {
        case LP_INIT:
            town = rs_calloc(1, sizeof(*town));
            SetState(town);
            keep(town, "dear", 4);
            ScheduleNewEvent(me, Expent(1), SORT, NULL, 0);
            break;
        case LETTER:
            ++town->seen;
            for (unsigned i = 0; i < size; ++i)
                town->checksum = (town->checksum ^ ((const unsigned char *)content)[i]) * 1099511628211U;
            keep(town, content, size);
            ScheduleNewEvent(me, now, SORT, NULL, 0);
            break;
        case SORT:
            if (town->letters != NULL) send_one(me, now, town);
            break;
        case LP_FINI:
            ScheduleNewEvent(me, now, SORT, NULL, 0); /* as in ROOT-Sim, no effect */
            printf("town %" PRIu64 " saw %u letters, %016" PRIx64 ", then %016" PRIx64 "\n", me, town->seen,
                   town->checksum, RandomU64());
            break;
        default:
            abort();
    }
}

static bool seen_enough(lp_id_t me, const void *snapshot) {
    (void)me;
    return ((const struct town *)snapshot)->seen >= SEEN_ENOUGH;
}

int main(void) {
    map = InitializeTopology(TOPOLOGY_TORUS, EDGE, EDGE);
    const struct simulation_configuration conf = {.lps = CountRegions(map),
                                                  .n_threads = 2,
                                                  .log_level = LOG_SILENT,
                                                  .prng_seed = 20,
                                                  .dispatcher = process,
                                                  .committed = seen_enough};
    if (RootsimInit(&conf) != 0) return 2;
    const int code = RootsimRun();
    ReleaseTopology(map);
    return code;
}
