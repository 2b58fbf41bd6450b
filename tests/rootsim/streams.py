#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random numbers of ROOT-Sim's library equal those of ROOT-Sim itself. The expected numbers were
printed by a program like rootsim_streams that was linked with ROOT-Sim's sources (the last version
before 3.0.0), with glibc on x86-64."""

from programs import Programs

DRAWN = {
    0: """0: f572d7657d5bfbd1 0x1.b1e7e1477d24bp-2 0x1.13a53b230a1bcp+0 -0x1.73fe1545aebe1p+0 341 0x1.9bc85efb0bfe3p-1 0x1.9b1305e515db6p+3 1
1: 1be65678163e11eb 0x1.0a1928cf62793p-2 0x1.575160143cc3p+1 0x1.267059515fc03p-2 310 0x1.3c7def8203056p+0 0x1.011857937f578p+3 21
2: 270faa8c45adf488 0x1.d8ba855197c79p-3 0x1.44ec3b837551dp+1 0x1.6115e4f20c622p+0 28 0x1.c54ccff9033fdp+1 0x1.6f5d005a313adp+3 34
""",
    12345678901234567: """0: 88cf410aee7f6efb 0x1.de4189ea2627ep-1 0x1.779ebc720796bp-4 -0x1.0314f3ef1415p+0 935 0x1.5f0e5e7842ec3p+1 0x1.2bd32573efdcfp+3 3
1: f2496bb12fc6a308 0x1.e866189e47442p-1 0x1.51f13cd3758e9p-5 -0x1.531ebaa158b96p+0 110 0x1.33925726189dp+1 0x1.f75e25800ce2p+2 6
2: ddcb2611e73d98be 0x1.1152fe81d811ap-1 0x1.4382f7f56a9a7p+1 0x1.1a47cf69c3398p-1 300 0x1.1234c0ba75c93p+0 0x1.660302f243d91p+2 2
""",
}

programs = Programs()
for seed, drawn in DRAWN.items():
    for program in "rootsim_streams", "rootsim_own_streams":
        done = programs.run(program, "--prng-seed", seed)
        programs.expect(done.stdout == drawn and not done.stderr,
                        f"{program} --prng-seed {seed}:\n{done.stdout}{done.stderr}")
programs.leave()
