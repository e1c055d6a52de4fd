// SPDX-License-Identifier: Apache-2.0
// Characters that turn the direction of text (Unicode 15, annex 9): a name that has one makes the rest of its line look like another text. Names
// come from the fabric, and all come with answers of weftd: there these characters are written out, as "\u202e", and in questions they are what they
// were. Pure.

const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** In JSON they stand as they are, or written out. */
const MAY_TURN = /\\u(?:06|20)|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/i;
const WRITTEN = 'u(061c|200[ef]|202[a-e]|206[6-9])';
const IN_ADDRESS = new RegExp(`%5C${WRITTEN}`, 'gi');
const IN_JSON = new RegExp(`\\\\\\\\${WRITTEN}`, 'g');

const written = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** What the JSON of an answer says. Throws where it is none. */
export function parseAnswer(json: string): unknown {
  return JSON.parse(json, MAY_TURN.test(json) ? (_, value) => (typeof value === 'string' ? value.replace(TURNS, written) : value) : undefined);
}

/** The path and query of a question, which are encoded. */
export const asAsked = (path: string) => path.replace(IN_ADDRESS, (_, code) => encodeURIComponent(String.fromCharCode(parseInt(code, 16))));

/** The JSON of an order. */
export const toOrder = (body: object) => JSON.stringify(body).replace(IN_JSON, '\\u$1');
