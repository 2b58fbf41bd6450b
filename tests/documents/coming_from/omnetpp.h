// SPDX-License-Identifier: Apache-2.0
/* Declarations of the OMNeT++ functions that ring_omnetpp.cc calls. With these declarations, a
 * compiler checks that the source on the page is valid C++. Nothing here runs. */
#pragma once

namespace omnetpp {

using simsignal_t = int;
using intval_t = long;
class simtime_t {
  public:
    simtime_t operator+(double seconds) const;
};
simtime_t simTime();

class cObject {
  public:
    virtual ~cObject();
};
class cMessage : public cObject {
  public:
    explicit cMessage(const char *name);
};
class cQueue : public cObject {
  public:
    void insert(cObject *object);
    cObject *pop();
    int getLength() const;
    bool isEmpty() const;
};
class cPar {
  public:
    intval_t intValue() const;
    double doubleValue() const;
};
template <class T>
T check_and_cast(cObject *object) {
    return dynamic_cast<T>(object);
}

class cSimpleModule {
  public:
    virtual ~cSimpleModule();

  protected:
    virtual void initialize();
    virtual void handleMessage(cMessage *message);
    cPar &par(const char *name);
    int getIndex() const;
    int getVectorSize() const;
    double exponential(double mean) const;
    simsignal_t registerSignal(const char *name);
    void emit(simsignal_t signal, intval_t value);
    void send(cMessage *message, const char *gate);
    void scheduleAt(simtime_t time, cMessage *message);
    void cancelAndDelete(cMessage *message);
};

#define Define_Module(Class) static_assert(sizeof(Class) > 0)

}  // namespace omnetpp
