// SPDX-License-Identifier: Apache-2.0
// An evidence pack as a file: the document that weftd makes, as `weftctl evidence` writes it.

import {useState} from 'preact/hooks';
import {getFile, type Failure} from './api';

/** Gives the browser a file to keep. */
export function keep(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has begun to read it; nobody else knows the address.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** `path`: of the pack, below /api/v1. */
export function Evidence({path}: {path: string}) {
  const [withJobs, setWithJobs] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState('');
  const load = async () => {
    setBusy(true);
    try {
      const {name, content} = await getFile(`${path}${withJobs ? '?jobs=1' : ''}`);
      keep(name, content);
      setTrouble('');
    } catch (error) {
      setTrouble((error as Failure).message);
    }
    setBusy(false);
  };
  return (
    <p class="actions evidence-file">
      <button type="button" disabled={isBusy} onClick={load} title="One HTML file for a return of parts or a ticket">Evidence</button>
      <label>
        <input type="checkbox" checked={withJobs} onChange={(event) => setWithJobs(event.currentTarget.checked)} />{' '}
        with names of jobs and people
      </label>
      {trouble && <span class="trouble" role="alert">{trouble}</span>}
    </p>
  );
}
