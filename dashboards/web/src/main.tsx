// SPDX-License-Identifier: Apache-2.0
import {render} from 'preact';
import {App} from './app';
import {begin} from './live';
import './style.css';

begin();
render(<App />, document.getElementById('page') as HTMLElement);
