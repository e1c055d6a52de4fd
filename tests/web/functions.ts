// SPDX-License-Identifier: Apache-2.0
// Functions of the page that draw nothing. test_functions.py bundles this and runs it in Node.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {badList, badText} from '../../dashboards/web/src/bad_nodes';
import type {Layout} from '../../dashboards/web/src/layout';

test('of a degraded host with one adapter down the list does not say that the host is down', () => {
  const adapters = ['mlx5_0', 'mlx5_1', 'mlx5_2'];
  const map = {guids: ['0x1', '0x2', '0x3'], names: adapters.map((each) => `gpu-1 ${each}`), hosts: ['gpu-1', 'gpu-1', 'gpu-1'], types: 'CCC', links: [] as number[]};
  const layout = {graph: {map, nodes: 3, links: 0}} as Layout;
  const shading = {nodes: Uint8Array.from([1, 1, 2]), links: new Uint8Array(), counts: [0, 2, 1, 0], cables: [0, 0, 0, 0]};
  const {rows, total} = badList(layout, shading, 'state', [0, 1, 2]);
  assert.equal(total, 1);
  assert.equal(badText(rows[0], 'state'), '1 adapter down, 2 adapters degraded');
  const [single] = badList(layout, shading, 'state', [2]).rows;
  assert.deepEqual([single.name, badText(single, 'state')], ['gpu-1 mlx5_2', 'unhealthy or down']);
});
