/* SPDX-License-Identifier: Apache-2.0 */
/* Two weftd, one ledger, one target. A weftd leads while its epoch is the ledger's (daemon/adapters/store/dialect.hpp:
 * mark(), and the beat beside it) and its lease has not ended. The leader takes the target out of service or gives it back.
 * The life of one plan in detail is plan.pml; here a plan is: intent, act, outcome.
 *
 * What it promises, checked by spin over all interleavings:
 *   - one leader writes: nothing is committed with an epoch that was taken over (assert in commit())
 *   - an intent is committed before it is sent, with the epoch that sends it (assert in hand_over())
 *   - each intent is sent once at most, by one weftd (assert n != sent in hand_over())
 *   - the actuator starts nothing for a weftd that was fenced (assert mine == epoch in hand_over())
 *   - an order has no effect once a newer one was sent, and none that the ledger does not know of (asserts in effect()):
 *     what lands after its sender was fenced lands before the new leader's wait is over
 *   - in the end the ledger says of the world what is so, and the world is as wanted (assert is_true in End())
 *   - in the end one of the two leads (assert in End())
 *
 * What it assumes of an actuator without compare-and-set (the default): the end of the lease comes with the order, and the
 * actuator looks at it directly before it acts; what it then sends has its effect within the bound that the new leader
 * waits for, or never. This is the hazard that is left: spin finds an old order that wins when one of the two is missing
 * (NO_DEADLINE: a weftd that is stopped between its own look and the act; NO_BOUND: the actuator itself is stopped there,
 * or the network is slower). With compare-and-set (CAS) neither is needed: an order carries a number that grows with each
 * intent, and the target refuses what is not above the highest that it has seen. The epoch alone would not order two
 * intents of one leader. A leader that finds an order without outcome writes the ledger's number to the target before it
 * reads it; else the target does not know yet that the old order is old (NO_NUMBER_FIRST).
 *
 * Stops. A process may be stopped between any two steps for any time: spin tries all interleavings. A lost answer to
 * COMMIT is the same: the next transaction finds out what became of it before anything else is done
 * (PostgresConnection::settle()), so it is a stop beside the commit.
 *
 * Time is an order of events, and the only facts about it are these three. All else is left open, so that each run of real
 * clocks is a run of this model. No clocks are compared; their rates may differ by less than 3 to 5.
 *   - A lease ends 3 s after its last acknowledged beat was SENT. The standby counts 5 s from when it first saw the last
 *     committed beat, so from after its commit, which is after its sending. So the 5 s are over only after the leader's
 *     lease has ended by the leader's own clock, whether that beat was acknowledged or not: `still` comes after `over`.
 *     A stopped leader does not see its clock: it goes on from its last look.
 *   - A takeover changes the epoch only where epoch and beat are those that stood still (kTakeBeatIf).
 *   - The bound runs from the actuator's look at the lease, so from before the takeover; the new leader's wait begins
 *     after its takeover and is longer (may_have_waited).
 *
 * Each macro but CAS and FEWER puts a fault in: test_pair_model.py shows that spin finds it.
 */

mtype = { NONE, TAKE, GIVE };
mtype = { ACCEPTED, REFUSED, NO_ANSWER };

/* The world. */
bool out = false;
/* Orders that got no answer and have no effect yet, by their number. */
chan net = [3] of { mtype, byte };

/* The ledger. `number` is of the last intent, which is open while j_op is not NONE. `late`: an order without outcome may
 * still land. The first weftd leads already. */
byte epoch = 1, holder = 0, number = 0;
mtype j_op = NONE;
byte j_epoch = 0;
bool wanted = true, in_force = false, late = false;

/* Of each weftd: the epoch that it thinks it has, 0: it stands by; its lease has ended by its own clock; the beat has
 * stood still for 5 s by its own clock; it has lost the database, or is stopped, for good. */
byte mine[2];
bool over[2], still[2], cut[2];

/* How much more may go wrong. */
#ifdef FEWER
byte hangs = 1, crashes = 1, cuts = 1, lost = 1, refusals = 1, wishes = 1;
#else
byte hangs = 2, crashes = 1, cuts = 1, lost = 2, refusals = 1, wishes = 1;
#endif

/* What the promises speak of: the highest number that was sent. */
byte sent = 0;

#define leads(i) (mine[i] != 0 && mine[i] == epoch && !over[i])
#define is_true (j_op == NONE && !late && in_force == out && wanted == out)

#ifdef CAS
byte seen = 0; /* the highest number that the target has seen */
#define accepts(n) (n > seen)
#define note_number(n) seen = n
#else
#define accepts(n) true
#define note_number(n) skip
#endif

/* Whether the wait before a contrary order may be over: after the bound all that was sent has landed, or never will. */
#if defined(CAS) || defined(NO_WAIT) || defined(NO_BOUND)
#define may_have_waited true
#else
#define may_have_waited empty(net)
#endif

/* An order reaches the target. */
inline effect(what, which) {
  if
  :: accepts(which) ->
#ifndef ONLY_THE_END
     assert(which == sent);
     assert(j_op != NONE || late);
#endif
     out = (what == TAKE);
     note_number(which)
  :: else
  fi
}

inline saw_beat() {
  still[0] = false; still[1] = false
}
#define stand_by(i) mine[i] = 0; over[i] = true

#define beats(i) (mine[i] != 0 && !cut[i])
/* 3 s after a beat was sent that was acknowledged. */
#define lease_ends(i) \
  :: atomic { !over[i] && !beats(i) -> over[i] = true } \
  :: atomic { !over[i] && beats(i) && hangs > 0 -> hangs--; over[i] = true }
/* A beat that is acknowledged within 3 s. Where it would change nothing it is left out. */
#define beat(i) \
  :: atomic { beats(i) && mine[i] == epoch && (over[i] || still[1 - i]) -> over[i] = false; saw_beat() } \
  :: atomic { beats(i) && mine[i] != epoch -> stand_by(i) } /* no row changed: another weftd has taken over */
/* A beat that is committed and acknowledged later than that: it is none to the one who sent it. */
#ifdef LEASE_FROM_ANSWER
bool beaten[2];
#define late_beat(i) \
  :: atomic { beats(i) && mine[i] == epoch && over[i] && hangs > 0 -> hangs--; beaten[i] = true; saw_beat() } \
  :: atomic { beaten[i] -> beaten[i] = false; over[i] = false }
#else
#define late_beat(i) \
  :: atomic { beats(i) && mine[i] == epoch && over[i] && still[1 - i] && hangs > 0 -> hangs--; saw_beat() }
#endif
#define stands_still(i) \
  :: atomic { mine[i] == 0 && !still[i] && over[holder] -> still[i] = true }

/* Clocks, the threads that beat, and the network. */
active proctype World() {
  mtype op; byte n;
end:
  do
  lease_ends(0)
  lease_ends(1)
  beat(0)
  beat(1)
  late_beat(0)
  late_beat(1)
  stands_still(0)
  stands_still(1)
  /* For good; for a time is the same as a stop. Only one of the two, or nobody could lead. */
  :: atomic { cuts > 0 -> cuts--; if :: cut[0] = true :: cut[1] = true fi }
  :: atomic { net??op,n -> effect(op, n); op = NONE; n = 0 } /* it lands */
  :: atomic { net??op,n -> op = NONE; n = 0 }                /* it is lost */
  od
}

#ifdef UNFENCED
#define fence_holds true
#else
#define fence_holds (mine[me] == epoch)
#endif
#ifdef TRUST_LOST_COMMIT
#define lost_commit :: atomic { lost > 0 -> lost-- }
#else
#define lost_commit
#endif
/* A transaction is whole, and conflicts with a takeover. It waits while there is no database. Or the process ends here
 * and begins anew. */
#define commit(change) \
  if \
  :: atomic { mine[me] != 0 && !cut[me] && fence_holds -> assert(mine[me] == epoch); change } \
  :: atomic { mine[me] == 0 || (!cut[me] && !fence_holds) -> stand_by(me); forget() }; goto standby \
  :: atomic { crashes > 0 -> crashes--; stand_by(me); forget() }; goto standby \
  lost_commit \
  fi
#define close j_op = NONE; j_epoch = 0
inline forget() {
  op = NONE; answer = NONE; n = 0; found = false
}

/* The actuator gets the order, with the end of the lease, and looks at that directly before it acts. */
#ifdef NO_DEADLINE
#define deadline_holds true
#else
#define deadline_holds (!over[me])
#endif
inline hand_over() {
#ifndef NO_DEADLINE
  assert(mine[me] == epoch);
  assert(j_op == op && number == n && j_epoch == mine[me]);
#endif
  assert(n != sent);
  if :: n > sent -> sent = n :: else fi
}

proctype Weftd(bit me) {
  mtype op = NONE, answer = NONE;
  byte n = 0;
  bool found = false;
  if :: mine[me] != 0 -> goto again :: else fi;

standby:
#ifdef TAKEOVER_WITHOUT_THE_BEAT
  still[me];
  atomic {
    !cut[me] && mine[me] == 0;
#elif defined(NO_TAKEOVER)
  atomic {
    false;
#else
  atomic {
    still[me] && !cut[me];
#endif
    epoch++; holder = me; mine[me] = epoch; over[me] = false; saw_beat()
  };
#ifdef SEND_AGAIN
  if
  :: atomic { j_op != NONE -> op = j_op; n = number; j_epoch = mine[me] }; goto send
  :: j_op == NONE
  fi;
#endif

again:
  if
  :: mine[me] == 0 -> goto standby

  /* An intent without outcome, of this life or of one before: the world is read, and it is not sent again. What it did
   * not do may come late. What takes out of service is given up; what gives back is tried again, after the wait. */
  :: mine[me] == epoch && j_op != NONE ->
     found = out;
     commit(if :: j_op == TAKE && !found -> wanted = false :: else fi; close; in_force = found; late = true; forget());
     goto again

  /* Before anything else is sent. */
  :: mine[me] == epoch && j_op == NONE && late ->
#ifdef READ_BEFORE_THE_WAIT
     found = out;
     may_have_waited;
#else
     may_have_waited;
#if defined(CAS) && !defined(NO_NUMBER_FIRST)
     atomic { seen = (number > seen -> number : seen) };
#endif
     found = out;
#endif
     commit(in_force = found; late = false; forget());
     goto again

  /* A person, or a rule, wants it otherwise. */
  :: atomic { mine[me] == epoch && !cut[me] && wishes > 0 -> wishes--; wanted = !wanted }; goto again

  :: atomic { mine[me] == epoch && !over[me] && j_op == NONE && !late && wanted != in_force ->
     op = (wanted -> TAKE : GIVE) };
#ifndef ACT_BEFORE_INTENT
     commit(number++; n = number; j_op = op; j_epoch = mine[me]);
#else
     n = number + 1;
#endif
     /* The gate (ActGate::start()). */
     if
     :: over[me] -> commit(close; forget()); goto again
     :: !over[me]
     fi;
     /* Here, too, the process may be stopped as long as it likes. */
send:
     if
     :: atomic { !deadline_holds -> answer = REFUSED }
     :: atomic { deadline_holds -> hand_over();
        if
        :: answer = (accepts(n) -> ACCEPTED : REFUSED); effect(op, n)
        :: refusals > 0 -> refusals--; answer = REFUSED
        :: lost > 0 -> assert(nfull(net)); lost--; answer = NO_ANSWER; net!op,n
        fi }
     fi;
     if
     :: answer == ACCEPTED -> found = out; commit(close; in_force = found; forget())
     :: answer == REFUSED -> commit(close; wanted = in_force; forget())
     :: atomic { answer == NO_ANSWER -> forget() }
     fi;
     goto again
  fi
}

init {
  atomic { mine[0] = epoch; over[1] = true; run Weftd(0); run Weftd(1) }
}

/* Where nothing can happen any more. Everything that goes wrong is limited and the rest brings the run nearer to its end,
 * so that each run comes here, however the processes take turns: spin finds no cycle. */
active proctype End() {
  timeout -> assert(is_true); assert(leads(0) || leads(1))
}
