// SPDX-License-Identifier: Apache-2.0
// Asking weftd. Every answer that was heard before is asked for with its entity tag, so that nothing is sent twice.

import {asAsked, parseAnswer, toOrder} from './turning';

const TOKEN = 'weft-token';
const PATIENCE_MS = 10_000;
/** weftd answers an order within 30 seconds, be it that it could not. */
const ORDER_PATIENCE_MS = 35_000;

/** An answer that is an error, or none at all (status 0). */
export class Failure extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

export function token(): string {
  return sessionStorage.getItem(TOKEN) ?? '';
}

export function setToken(text: string): void {
  if (text) sessionStorage.setItem(TOKEN, text);
  else sessionStorage.removeItem(TOKEN);
  heard.clear();
}

interface Heard {
  etag: string;
  value: unknown;
}
/** By path. As many as a person opens in a while. */
const heard = new Map<string, Heard>();
const MOST_HEARD = 64;

/** Less is how long an answer takes, and the second that Date leaves out. */
const SAME_TIME_MS = 5_000;
let ahead = 0;

/** Milliseconds since 1970 by weftd's clock, as it told last: a browser's may be hours off. */
export const weftdNow = () => Date.now() + ahead;

function compareClocks(response: Response): void {
  const told = Date.parse(response.headers.get('Date') ?? '') - Date.now();
  if (!Number.isNaN(told)) ahead = Math.abs(told) > SAME_TIME_MS ? told : 0;
}

async function ask(path: string, options: RequestInit, patience = PATIENCE_MS): Promise<Response> {
  const headers = new Headers(options.headers);
  if (token()) headers.set('Authorization', `Bearer ${token()}`);
  try {
    const response = await fetch(asAsked(path), {...options, headers, cache: 'no-store', signal: AbortSignal.timeout(patience)});
    compareClocks(response);
    return response;
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    throw new Failure(0, isLate ? `weftd did not answer within ${patience / 1000} s` : 'weftd is unreachable');
  }
}

const read = async (response: Response) => parseAnswer(await response.text());

async function failure(response: Response): Promise<Failure> {
  let message = `HTTP ${response.status}`;
  try {
    message = ((await read(response)) as {message?: string}).message || message;
  } catch {
    // No JSON: the number has to do.
  }
  return new Failure(response.status, message);
}

/** The same object as before when nothing changed. */
export async function get<T>(path: string): Promise<T> {
  const before = heard.get(path);
  const response = await ask(path, {headers: before ? {'If-None-Match': before.etag} : {}});
  if (response.status === 304 && before) return before.value as T;
  if (!response.ok) throw await failure(response);
  let value: T;
  try {
    value = (await read(response)) as T;
  } catch {
    throw new Failure(0, 'the response was incomplete');
  }
  const etag = response.headers.get('ETag');
  heard.delete(path);
  if (etag) heard.set(path, {etag, value});
  if (heard.size > MOST_HEARD) heard.delete(heard.keys().next().value as string);
  return value;
}

/** A document that weftd serves beside the page. */
export async function getDocument(path: string): Promise<Document> {
  const response = await ask(path, {});
  if (!response.ok) throw await failure(response);
  return new DOMParser().parseFromString(await response.text(), 'text/html');
}

/** A file that weftd makes, under the name that it gives it. */
export async function getFile(path: string): Promise<{name: string; content: Blob}> {
  const response = await ask(path, {}, ORDER_PATIENCE_MS);
  if (!response.ok) throw await failure(response);
  const name = /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition') ?? '')?.[1] ?? 'weft';
  return {name, content: await response.blob()};
}

export async function post<T>(path: string, body: object): Promise<T> {
  const options = {method: 'POST', headers: {'Content-Type': 'application/json'}, body: toOrder(body)};
  try {
    const response = await ask(path, options, ORDER_PATIENCE_MS);
    if (!response.ok) throw await failure(response);
    return (await read(response)) as T;
  } catch (error) {
    if (error instanceof Failure && error.status !== 0) throw error;
    throw new Failure(0, 'weftd did not answer: it may have been done all the same, so look before you repeat it');
  }
}
