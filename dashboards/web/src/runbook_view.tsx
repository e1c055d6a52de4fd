// SPDX-License-Identifier: Apache-2.0
// What to do about an incident, in place: a part of the runbook that weftd serves.

import {useEffect, useRef} from 'preact/hooks';
import {getDocument} from './api';
import {usePolled} from './live';

/** It changes with weftd itself only. */
const AGAIN_MS = 3_600_000;

interface Steps {
  title: string;
  lists: Element[];
}

/** "Run weftctl incident INC-…: the rate …" is what the reader looks at: the rest of that step stays. */
function takeOff(step: Element | null | undefined): void {
  const [run, command, rest] = step?.childNodes ?? [];
  if (run?.textContent?.trim() !== 'Run' || !command.textContent?.startsWith('weftctl incident ') || !rest?.textContent) return;
  run.remove();
  command.remove();
  rest.textContent = rest.textContent.replace(/^[.:]? *(and )?/, '').replace(/^./, (letter) => letter.toUpperCase());
}

/** The runbook's commands with the number of the incident, ready to be copied. */
async function stepsOf(path: string, incident: string): Promise<Steps> {
  const part = (await getDocument(path)).getElementById('what-to-do');
  for (const command of part?.querySelectorAll('code') ?? []) command.textContent = (command.textContent ?? '').replaceAll('INC-…', incident);
  takeOff(part?.querySelector('ol > li'));
  return {
    title: part?.querySelector('p')?.textContent ?? 'What to do',
    lists: [...(part?.children ?? [])].slice(1),
  };
}

/** `path`: of the runbook, as the incident has it. An older weftd of the site has none. `incident`: its id. */
export function WhatToDo({path, incident}: {path?: string; incident: string}) {
  const place = useRef<HTMLDivElement>(null);
  const {value} = usePolled<Steps | undefined>(`runbook-${path}-${incident}`, AGAIN_MS, async () => (path ? stepsOf(path, incident) : undefined));
  useEffect(() => {
    place.current?.replaceChildren(...(value?.lists ?? []).map((each) => document.importNode(each, true)));
  }, [value]);
  if (!path) return null;
  return (
    <section aria-labelledby="what-to-do">
      <h3 id="what-to-do">{value?.title ?? 'What to do'}</h3>
      <div class="steps" ref={place} />
      <p><a href={path}>The whole runbook</a></p>
    </section>
  );
}
