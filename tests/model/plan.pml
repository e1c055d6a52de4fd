/* SPDX-License-Identifier: Apache-2.0 */
/* The life of one plan that takes something out of service (analyzer/remedy/plan_runner.cpp), with everything that can go
 * wrong beside it: readings that fail, actions that are refused, replies that are lost, actions that land long after,
 * somebody else who takes the target or gives it back, a process that is killed between any two steps, orders that wait
 * on the actuator's lane, and a person who takes automation's hands off meanwhile.
 *
 * What it promises, checked by spin over all interleavings:
 *   - nothing is asked of the world that the journal does not say (assert in act())
 *   - the action is sent once at most, and never to what is out already by it (asserts in act())
 *   - what somebody else was seen to hold is not touched (assert in act())
 *   - nothing is sent after hands-off was acknowledged but what the answer said was under way (assert in act())
 *   - nothing is forgotten: in the end the plan is over, and it says of the world what is so (ltl settled)
 */

mtype = { APPROVED, EXECUTING, VERIFYING, ROLLING_BACK, COMMITTED, ROLLED_BACK, FAILED, EXPIRED };
mtype = { NONE, APPLY, UNDO };
mtype = { CLEAR, OURS, FOREIGN };
mtype = { LOOK, ACT, READ_BACK };
mtype = { HELD, SENT, REFUSED };

#define READINGS 2  /* that may find it not as wanted yet */
#define FAILURES 1  /* readings that may fail one after the other */
#define UNDOS    2  /* times that it may be sent back */

/* The world. `landing` is an action without an answer that has not had its effect yet. */
mtype world = CLEAR;
bool landing_take = false, landing_give = false;

/* The journal: all that survives. */
mtype j_state = APPROVED;
mtype j_intent = NONE;
bool j_in_force = false;
bool j_unresolved = false;

/* How much more may go wrong. */
byte crashes = 2, lost = 3, refusals = 1, strangers = 2, bad_windows = 1, doubts = 1, hands_off = 1;

/* The brake: closed at the gate (daemon/programs/weftd/act_gate.hpp), then acknowledged with what has begun. */
bool braked = false, acknowledged = false, reported = false;

/* The actuator's lane: the order that waits there, whether the gate let it start, and what became of it. */
mtype order = NONE, answer = NONE;
bool begun = false;

/* What the promises speak of. */
byte sent = 0;           /* how often the action went out */
mtype last_read = CLEAR; /* what weftd was last told of the world */

#define over(s) (s == COMMITTED || s == ROLLED_BACK || s == FAILED || s == EXPIRED)
#define ordering ((state == EXECUTING || state == ROLLING_BACK) && stage == ACT && answer == NONE)
#define untouched (state == EXECUTING && intent == NONE)
#define truthful (j_in_force == (world == OURS))

/* What is on its way lands at any moment, unless somebody else has the target by then. */
active proctype Network() {
end:
  do
  :: atomic { landing_take -> landing_take = false; if :: world != FOREIGN -> world = OURS :: else fi }
  :: atomic { landing_give -> landing_give = false; if :: world == OURS -> world = CLEAR :: else fi }
  od
}

/* Somebody else: takes it out and gives it back, or gives back what weft took. */
active proctype Stranger() {
end:
  do
  :: atomic { strangers > 0 && world != FOREIGN -> strangers--; world = FOREIGN }
  :: atomic { strangers > 0 && world == OURS -> strangers--; world = CLEAR }
  :: atomic { strangers > 0 && world == FOREIGN -> strangers--; world = CLEAR }
  :: strangers > 0 -> strangers = 0 /* or does nothing, ever */
  od
}

/* What the process has in memory. */
mtype state, intent, stage;
bool in_force, unresolved, unanswered, failed, foreign, waits;
byte readings, failures, undos;

/* Memory reaches the disk as a whole; what follows from it comes after. */
inline journal() {
  atomic { j_state = state; j_intent = intent; j_in_force = in_force; j_unresolved = unresolved }
}
inline end_plan(s) {
  state = s; intent = NONE
}
inline look() {
  if
  :: atomic { world == CLEAR   -> last_read = CLEAR };   failed = false
  :: atomic { world == OURS    -> last_read = OURS };    failed = false
  :: atomic { world == FOREIGN -> last_read = FOREIGN }; failed = false
  :: atomic { lost > 0 -> lost-- }; failed = true
  fi
}
/* The change that the journal says is intended. */
inline act(takes) {
  assert(!acknowledged || reported);
  answer = SENT;
  assert(j_intent == (takes -> APPLY : UNDO));
  assert(last_read != FOREIGN);
  if
  :: takes -> sent++; assert(sent == 1)
  :: else
  fi;
  if
  :: atomic { world != FOREIGN -> assert(!takes || world != OURS); world = (takes -> OURS : CLEAR) }; unanswered = false
  :: atomic { world == FOREIGN }; answer = REFUSED
  :: atomic { refusals > 0 -> refusals-- }; answer = REFUSED
  :: atomic { lost > 0 -> lost--; if :: world != FOREIGN -> world = (takes -> OURS : CLEAR) :: else fi }; unanswered = true
  :: atomic { lost > 0 -> lost--; unanswered = true }
  :: atomic { lost > 0 -> lost--; unanswered = true; if :: takes -> landing_take = true :: else -> landing_give = true fi }
  fi
}

active proctype Lane() {
end:
  do
  /* Whether it may start, and that it has started, are one step. */
  :: atomic { order != NONE && !begun && !braked -> begun = true }
  :: atomic { order != NONE && !begun && braked -> order = NONE; answer = HELD }
  :: atomic { begun -> act((order == APPLY)); begun = false; order = NONE }
  od
}

active proctype Person() {
end:
  do
  :: atomic { hands_off > 0 && !braked -> hands_off--; braked = true }
  :: atomic { braked && !acknowledged -> acknowledged = true; reported = begun }
  :: atomic { braked && acknowledged -> braked = false; acknowledged = false; reported = false }
  od
}

active proctype Weftd() {
start:
  atomic {
    state = j_state; intent = j_intent; in_force = j_in_force; unresolved = j_unresolved;
    stage = LOOK; readings = 0; failures = 0; undos = 0; unanswered = true
  }

again:
  if
  :: atomic { crashes > 0 -> crashes--; order = NONE; begun = false; answer = NONE; goto start }
  :: true
  fi;

  if
  :: state == APPROVED ->
     state = EXECUTING; intent = NONE; stage = LOOK; unanswered = false; journal(); goto again

  :: (state == EXECUTING || state == ROLLING_BACK) && stage != ACT ->
     look();
     foreign = foreign && (failed || last_read == FOREIGN);
     if
     :: failed ->
        failures++;
        if
        :: failures <= FAILURES
        :: else ->
           if
           :: state == EXECUTING && intent == NONE -> end_plan(FAILED)
           :: else -> unresolved = true; end_plan(FAILED)
           fi;
           journal()
        fi
     :: !failed && last_read == FOREIGN && !foreign && !untouched ->
        foreign = true /* one reading may be wrong: it is asked again */
     :: !failed && last_read == FOREIGN && (foreign || untouched) ->
        in_force = false;
        if
        :: state == EXECUTING && intent == NONE -> end_plan(EXPIRED)
        :: else -> unresolved = unanswered; end_plan(FAILED)
        fi;
        journal()
     :: !failed && state == EXECUTING && last_read == OURS ->
        failures = 0;
        if
        :: intent == APPLY -> in_force = true; state = VERIFYING
        :: else -> end_plan(EXPIRED)
        fi;
        journal()
     :: !failed && state == EXECUTING && last_read == CLEAR ->
        failures = 0;
        if
        :: intent == NONE -> intent = APPLY; stage = ACT; journal()
        :: intent == NONE && refusals > 0 -> refusals--; state = APPROVED; journal() /* a guard has come to refuse it */
        :: intent == APPLY ->
           readings++;
           if
           :: readings < READINGS
           :: else -> unresolved = unanswered; end_plan(ROLLED_BACK); journal()
           fi
        fi
     :: !failed && state == ROLLING_BACK && last_read == CLEAR ->
        in_force = false; end_plan(ROLLED_BACK); journal()
     :: !failed && state == ROLLING_BACK && last_read == OURS ->
        failures = 0;
        if
        :: intent != UNDO -> intent = UNDO; stage = ACT; undos++; readings = 0; journal()
        :: else ->
           readings++;
           if
           :: readings < READINGS
           :: readings >= READINGS && undos < UNDOS -> stage = ACT; undos++; readings = 0; journal()
           :: else -> unresolved = true; end_plan(FAILED); journal()
           fi
        fi
     fi;
     goto again

  :: atomic { ordering && order == NONE && !braked -> order = intent }; goto again
  :: ordering && (order != NONE || braked) -> goto again /* it waits */

  /* Held: read again, or decided anew at once when what was read is young enough. */
  :: (state == EXECUTING || state == ROLLING_BACK) && stage == ACT && answer == HELD ->
     answer = NONE;
     if
     :: state == EXECUTING -> intent = NONE
     :: else -> undos--
     fi;
     journal();
     if
     :: stage = LOOK
     :: state == EXECUTING -> intent = APPLY; journal()
     :: state == ROLLING_BACK -> undos++
     fi;
     goto again

  :: state == EXECUTING && stage == ACT && (answer == SENT || answer == REFUSED) ->
     if
     :: answer == REFUSED -> end_plan(FAILED); journal()
     :: else -> stage = READ_BACK
     fi;
     answer = NONE;
     goto again

  :: state == ROLLING_BACK && stage == ACT && (answer == SENT || answer == REFUSED) ->
     if
     :: answer == REFUSED && undos < UNDOS -> stage = LOOK
     :: answer == REFUSED && undos >= UNDOS -> unresolved = true; end_plan(FAILED); journal()
     :: else -> stage = READ_BACK
     fi;
     answer = NONE;
     goto again

  :: state == VERIFYING ->
     if
     :: end_plan(COMMITTED); journal()
     :: atomic { doubts > 0 -> doubts-- };
        look(); /* a sweep shows it as if somebody had given it back */
        if
        :: !failed && last_read == CLEAR -> in_force = false; end_plan(ROLLED_BACK); journal()
        :: !failed && last_read == FOREIGN -> in_force = false; end_plan(FAILED); journal()
        :: else
        fi
     :: atomic { bad_windows > 0 -> bad_windows-- };
        state = ROLLING_BACK; intent = NONE; stage = LOOK; readings = 0; undos = 0; journal()
     fi;
     goto again

  /* Over: what is in force, or is not known, is read again from time to time. What may still land is waited for. */
  :: over(state) && (in_force || unresolved) ->
     waits = landing_take; /* as of when it is asked, not of when the answer comes */
     look();
     if
     :: failed
     :: !failed && last_read == OURS -> in_force = true; unresolved = false; journal()
     :: !failed && last_read != OURS ->
        if
        :: unresolved && waits
        :: else -> in_force = false; unresolved = false; journal()
        fi
     fi;
     goto again

  :: over(state) && !in_force && !unresolved ->
     goto again /* idle, so that what comes later shows */
  fi
}

/* Once nothing more goes wrong, and what was on its way has landed, the plan is over and tells the truth. A stranger's
 * last act is seen with the next reading, so that it must be looked at infinitely often only while the plan holds
 * something. */
ltl settled { <>[] (over(j_state) && !j_unresolved && truthful) }
