// SPDX-License-Identifier: Apache-2.0
// Views that few people open: their code is loaded when they are first shown.

import type {ComponentType} from 'preact';
import {useEffect, useState} from 'preact/hooks';

/** `load` gives the view, always the same one. */
export function Later({load}: {load: () => Promise<ComponentType>}) {
  const [view, setView] = useState<{View: ComponentType}>();
  const [trouble, setTrouble] = useState('');
  useEffect(() => {
    let shown = true;
    load().then((View) => shown && setView({View}), () => shown && setTrouble('This view could not be loaded: weftd does not answer, or another version of it runs now. Load the page again.'));
    return () => { shown = false; };
  }, [load]);
  if (trouble) return <p class="trouble" role="alert">{trouble}</p>;
  return view ? <view.View /> : <p class="muted">Loading …</p>;
}
