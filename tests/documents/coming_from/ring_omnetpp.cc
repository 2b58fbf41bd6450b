// SPDX-License-Identifier: Apache-2.0
#include <omnetpp.h>

using namespace omnetpp;

class Station : public cSimpleModule {
    cQueue queue;  // its front is being served
    cMessage *endService = nullptr;
    simsignal_t busySignal, jobsSignal;

  public:
    ~Station() override { cancelAndDelete(endService); }

  protected:
    void initialize() override {
        busySignal = registerSignal("busy");
        jobsSignal = registerSignal("jobs");
        endService = new cMessage("end service");
        int jobs = par("jobs").intValue();
        for (int job = getIndex(); job < jobs; job += getVectorSize())
            scheduleAt(simTime(), new cMessage("job"));
    }
    void handleMessage(cMessage *msg) override {
        if (msg != endService) {
            queue.insert(msg);
            if (queue.getLength() == 1) beginService();
        } else {
            send(check_and_cast<cMessage *>(queue.pop()), "out");
            if (queue.isEmpty()) emit(busySignal, 0L);
            else beginService();
        }
        emit(jobsSignal, (intval_t)queue.getLength());
    }
    void beginService() {
        emit(busySignal, 1L);
        scheduleAt(simTime() + exponential(par("serviceMean").doubleValue()), endService);
    }
};

Define_Module(Station);
