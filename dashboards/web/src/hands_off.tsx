// SPDX-License-Identifier: Apache-2.0
// Automation is stopped, and goes on again, by those who may.

import {useRef, useState} from 'preact/hooks';
import {post, type Failure} from './api';
import {isSite, ownShard, refresh, useLive} from './live';
import type {Remedy} from './types';

const VERBS = ['Let automation go on', 'Stop automation'];

/** What stops automation, in the words of weftctl; on every view. */
export function Brakes({handsOffByPerson, handsOffByFile, breakerTripped, breakerReason}: Remedy) {
  const where = isSite() ? ` in shard ${ownShard()}` : '';
  return (
    <>
      {handsOffByPerson && <p class="notice"><b>Everything is stopped{where} (hands-off), also what persons order:</b> {handsOffByPerson}</p>}
      {handsOffByFile && <p class="notice"><b>Everything is stopped{where} by the hands-off file, also what persons order:</b> {handsOffByFile}</p>}
      {breakerTripped && <p class="notice"><b>The circuit breaker is tripped{where}:</b> {breakerReason}</p>}
    </>
  );
}

export function HandsOff() {
  const {role, remedy} = useLive();
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState('');
  const [trouble, setTrouble] = useState('');
  const [sending, setSending] = useState(false);
  // As it was when the dialog was opened: somebody else may change it meanwhile.
  const [stops, setStops] = useState(true);
  if (!remedy) return null;
  const isStopped = remedy.handsOffByPerson !== '';
  const open = () => {
    setStops(!isStopped);
    dialog.current?.showModal();
  };
  const verb = VERBS[Number(stops)];
  // Each shard of a site is stopped by itself.
  const where = isSite() ? ` of shard ${ownShard()}` : '';
  const alone = where ? `This is${where} alone: the others are not concerned. ` : '';
  const send = async (event: Event) => {
    event.preventDefault();
    setSending(true);
    setTrouble('');
    try {
      await post('/api/v1/remedy/hands-off', {handsOff: stops, reason});
      setReason('');
      dialog.current?.close();
      refresh();
    } catch (error) {
      setTrouble((error as Failure).message);
    }
    setSending(false);
  };
  return (
    <>
      {role !== 'viewer' && (
        <div class="actions">
          <button type="button" onClick={open}>{VERBS[Number(!isStopped)]} …</button>
          <dialog ref={dialog} aria-labelledby="hands-off">
            <form onSubmit={send}>
              <h3 id="hands-off">{verb}?</h3>
              <p>{alone}{stops ? `No new plan${where} is carried out until somebody lets it go on.` : `Plans${where} are decided and carried out again.`}</p>
              <label>Reason
                <input value={reason} required maxLength={1000} onInput={(event) => setReason(event.currentTarget.value)} />
              </label>
              {trouble && <p class="trouble" role="alert">{trouble}</p>}
              <div class="actions">
                <button type="submit" class="primary" disabled={sending}>{verb}</button>
                <button type="button" onClick={() => dialog.current?.close()}>Cancel</button>
              </div>
            </form>
          </dialog>
        </div>
      )}
    </>
  );
}
