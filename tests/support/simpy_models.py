#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SimPy versions of the models bank, car_wash, channel, gas_station, machine_shop and movies, with
the defaults of numawarp's models, to compare figures and speed.

usage: simpy_models.py MODEL PLACES UNTIL SEED...

Prints a line of JSON for each seed: the figures, as means over the places, and the seconds that the
run took."""

import json
import random
import sys
import time

import simpy


class Bank:
    def __init__(self, env):
        self.env, self.counters = env, simpy.Resource(env)
        self.served = self.reneged = self.waited = 0
        env.process(self.arrivals())

    def arrivals(self):
        while True:
            yield self.env.timeout(random.expovariate(1 / 10))
            self.env.process(self.visit())

    def visit(self):
        came = self.env.now
        with self.counters.request() as turn:
            yield turn | self.env.timeout(random.uniform(1, 3))
            self.waited += self.env.now - came
            if not turn.triggered:
                self.reneged += 1
                return
            self.served += 1
            yield self.env.timeout(random.expovariate(1 / 12))

    def figures(self):
        return {"served": self.served, "reneged": self.reneged,
                "wait": self.waited / (self.served + self.reneged)}


class CarWash:
    def __init__(self, env):
        self.env, self.machines = env, simpy.Resource(env, 2)
        self.washed = self.waited = 0
        for _ in range(4):
            env.process(self.visit())
        env.process(self.arrivals())

    def arrivals(self):
        while True:
            yield self.env.timeout(random.randint(1, 5))
            self.env.process(self.visit())

    def visit(self):
        came = self.env.now
        with self.machines.request() as machine:
            yield machine
            self.waited += self.env.now - came
            yield self.env.timeout(5)
            self.washed += 1

    def figures(self):
        return {"washed": self.washed, "wait": self.waited / (self.washed + self.machines.count)}


class Channel:
    hosts = []

    def __init__(self, env):
        self.env, self.inbox = env, simpy.Store(env)
        self.received = self.messages = self.in_channel = self.until_done = 0
        Channel.hosts.append(self)
        env.process(self.sender())
        env.process(self.receiver())

    def sender(self):
        while True:
            yield self.env.timeout(random.uniform(0, 10))
            self.env.process(self.carry(random.choice(Channel.hosts), self.env.now))

    def carry(self, other, message):
        yield self.env.timeout(10)
        other.inbox.put(message)

    def receiver(self):
        while True:
            sent = yield self.inbox.get()
            self.received += 1
            self.in_channel += self.env.now - sent
            yield self.env.timeout(random.expovariate(1 / 3))
            self.until_done += self.env.now - sent
            self.messages += 1

    def figures(self):
        return {"messages": self.messages, "in_channel": self.in_channel / self.received,
                "until_done": self.until_done / self.messages}


class GasStation:
    def __init__(self, env):
        self.env, self.pumps = env, simpy.Resource(env, 2)
        self.tank = simpy.Container(env, 200, init=200)
        self.cars = self.trucks = self.took = 0
        env.process(self.arrivals())
        env.process(self.control())

    def arrivals(self):
        while True:
            yield self.env.timeout(random.uniform(30, 300))
            self.env.process(self.refuel(50 - random.uniform(5, 25)))

    def refuel(self, wanted):
        came = self.env.now
        with self.pumps.request() as pump:
            yield pump
            yield self.tank.get(wanted)
            yield self.env.timeout(wanted / 2)
            self.cars += 1
            self.took += self.env.now - came

    def control(self):
        while True:
            if self.tank.level < 0.25 * self.tank.capacity:
                yield self.env.process(self.truck())
            yield self.env.timeout(10)

    def truck(self):
        yield self.env.timeout(300)
        self.trucks += 1
        yield self.tank.put(self.tank.capacity - self.tank.level)

    def figures(self):
        return {"cars": self.cars, "trucks": self.trucks, "time": self.took / self.cars}


class MachineShop:
    def __init__(self, env):
        self.env, self.repairman = env, simpy.PreemptiveResource(env)
        self.is_broken = [False] * 10
        self.parts = self.failures = self.jobs = 0
        for number in range(10):
            env.process(self.wear(number, env.process(self.machine(number))))
        env.process(self.other_jobs())

    def machine(self, number):
        while True:
            left = 0
            while left <= 0:
                left = random.normalvariate(10, 2)
            while left:
                began = self.env.now
                try:
                    yield self.env.timeout(left)
                    left = 0
                except simpy.Interrupt:
                    left -= self.env.now - began
                    self.is_broken[number] = True
                    with self.repairman.request(priority=1) as repair:
                        yield repair
                        yield self.env.timeout(30)
                    self.is_broken[number] = False
            self.parts += 1

    def wear(self, number, machine):
        while True:
            yield self.env.timeout(random.expovariate(1 / 300))
            if not self.is_broken[number]:
                self.failures += 1
                machine.interrupt()

    def other_jobs(self):
        while True:
            left = 30
            while left > 0:
                with self.repairman.request(priority=2) as turn:
                    yield turn
                    began = self.env.now
                    try:
                        yield self.env.timeout(left)
                        left = 0
                    except simpy.Interrupt:
                        left -= self.env.now - began
            self.jobs += 1

    def figures(self):
        return {"parts": self.parts, "failures": self.failures, "jobs": self.jobs}


class Cinema:
    films = range(3)

    def __init__(self, env):
        self.env, self.counter = env, simpy.Resource(env)
        self.available = [50 for _ in self.films]
        self.sold_out = [env.event() for _ in self.films]
        self.closed_at = [-1 for _ in self.films]
        self.reneged = 0
        env.process(self.arrivals())

    def arrivals(self):
        while True:
            yield self.env.timeout(random.expovariate(1 / 0.5))
            film, tickets = random.choice(self.films), random.randint(1, 6)
            if self.available[film]:
                self.env.process(self.visit(film, tickets))

    def visit(self, film, tickets):
        with self.counter.request() as turn:
            yield turn | self.sold_out[film]
            if self.sold_out[film].triggered:
                self.reneged += 1
                return
            is_enough = tickets <= self.available[film]
            if is_enough:
                self.available[film] -= tickets
                if self.available[film] < 2:
                    self.available[film] = 0
                    self.closed_at[film] = self.env.now
                    self.sold_out[film].succeed()
            yield self.env.timeout(1 if is_enough else 0.5)

    def figures(self):
        return {"sold_out_at": sum(self.closed_at) / 3, "reneged": self.reneged / 3}


MODELS = {"bank": Bank, "car_wash": CarWash, "channel": Channel, "gas_station": GasStation,
          "machine_shop": MachineShop, "movies": Cinema}


def main():
    model, places, until, *seeds = sys.argv[1:]
    for seed in seeds:
        random.seed(int(seed))
        Channel.hosts.clear()
        env = simpy.Environment()
        made = [MODELS[model](env) for _ in range(int(places))]
        began = time.process_time()
        env.run(until=float(until))
        seconds = time.process_time() - began
        figures = [place.figures() for place in made]
        means = {name: sum(place[name] for place in figures) / len(figures) for name in figures[0]}
        print(json.dumps({"figures": means, "seconds": seconds}))


if __name__ == "__main__":
    main()
