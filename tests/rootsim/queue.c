// SPDX-License-Identifier: Apache-2.0
/* Counters in the style of classic ROOT-Sim, with a topology and the model's own options: customers
 * wait in a list from malloc(), are served one after the other, and move to a neighbor. */
#include <ROOT-Sim.h>

#include <errno.h>
#include <stdint.h>

enum { ARRIVE = 1, SERVED };

static double service = 0.5;
static int enough = 40;
static int slow = -1;
static double patience = 3;

struct customer {
    unsigned number;
    double patience;
};

struct waiting {
    struct customer customer;
    struct waiting *next;
};

struct counter {
    struct waiting *first, **end;
    int served;
    unsigned given_up;
};

/* The options are in groups. In argp, an entry with neither name nor key begins a group. */
static const struct argp_option model_options[] = {
    {NULL, 0, NULL, 0, "At each counter:", 1},
    {"service", 's', "TIME", 0, "mean time of service", 1},
    {"serving", 0, NULL, OPTION_ALIAS, NULL, 1},
    {NULL, 0, NULL, 0, "Of all:", 2},
    {"enough", 'e', "N", 0, "customers at each counter", 2},
    {"slow", 'w', "LP", OPTION_ARG_OPTIONAL, "the LP of a slow counter; default: the first LP", 2},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    switch (key) {
        case 's':
            service = atof(arg);
            if (service <= 0) argp_error(state, "--service: must be above 0");
            return 0;
        case 'e':
            enough = atoi(arg);
            return enough > 0 ? 0 : EINVAL; /* without an error message */
        case 'w':
            slow = arg == NULL ? 0 : atoi(arg);
            return 0;
        case ARGP_KEY_SUCCESS: /* now the number of LPs is set */
            if (slow >= (int)n_prc_tot) argp_error(state, "--slow: there are %u", n_prc_tot);
            return 0;
        default:
            return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option customer_options[] = {{"calm", 'c', NULL, 0, "they are patient", 0}, {0}};

static error_t parse_customers(int key, char *arg, struct argp_state *state) {
    (void)arg, (void)state;
    if (key != 'c') return ARGP_ERR_UNKNOWN;
    patience = 10;
    return 0;
}

static const struct argp customers = {customer_options, parse_customers, NULL, NULL, NULL, NULL, NULL};
static const struct argp_child children[] = {{&customers, 0, "Customers:", 3}, {0}};

struct argp model_argp = {model_options, parse, NULL, NULL, children, NULL, NULL};
struct _topology_settings_t topology_settings = {.default_geometry = TOPOLOGY_HEXAGON};

static double service_of(unsigned me) { return (int)me == slow ? 2 * service : service; }

void ProcessEvent(unsigned int me, simtime_t now, int type, struct customer *content,
                  unsigned int size, struct counter *counter) {
    (void)size;
    switch (type) {
        case INIT:
            counter = calloc(1, sizeof(*counter));
            counter->end = &counter->first;
            SetState(counter);
            for (unsigned i = 0; i < 3; ++i) {
                struct customer customer = {me * 3 + i, patience + Normal()};
                ScheduleNewEvent(me, Expent(1.0), ARRIVE, &customer, sizeof(customer));
            }
            break;
        case ARRIVE: {
            const bool is_idle = counter->first == NULL;
            struct waiting *last = malloc(sizeof(*last));
            last->customer = *content;
            last->next = NULL;
            *counter->end = last;
            counter->end = &last->next;
            if (is_idle) ScheduleNewEvent(me, now + Gamma(2) * service_of(me), SERVED, NULL, 0);
            break;
        }
        case SERVED: {
            struct waiting *served = counter->first;
            struct customer customer = served->customer;
            counter->first = served->next;
            if (counter->first == NULL) counter->end = &counter->first;
            free(served);
            ++counter->served;
            customer.patience -= Random();
            if (customer.patience < 0) {
                ++counter->given_up;
                customer.patience = Zipf(1.5, 20);
            }
            const simtime_t arrival = now + Expent(0.2);
            ScheduleNewEvent(FindReceiver(), arrival, ARRIVE, &customer, sizeof(customer));
            if (counter->first != NULL)
                ScheduleNewEvent(me, now + Gamma(2) * service_of(me), SERVED, NULL, 0);
            break;
        }
        default:
            abort();
    }
}

bool OnGVT(unsigned int me, struct counter *snapshot) {
    (void)me;
    return snapshot->served >= enough;
}
