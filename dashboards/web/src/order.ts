// SPDX-License-Identifier: Apache-2.0
// Changes that a form or a button asks for.

import {useRef, useState} from 'preact/hooks';
import {post, type Failure} from './api';
import {refresh} from './live';

/** Sends a change, one at a time: pressed twice is not asked for twice. What is wrong with it is said beside it. */
export function useOrder() {
  const [trouble, setTrouble] = useState('');
  const sending = useRef(false);
  const order = async (path: string, body: object): Promise<boolean> => {
    if (sending.current) return false;
    sending.current = true;
    try {
      await post(path, body);
      setTrouble('');
      refresh();
      return true;
    } catch (error) {
      setTrouble((error as Failure).message);
      return false;
    } finally {
      sending.current = false;
    }
  };
  return {trouble, order};
}
