// SPDX-License-Identifier: Apache-2.0
import {defineConfig} from 'vite';

// The page is served with a policy that allows nothing inline: neither scripts, nor styles, nor data: URLs.
export default defineConfig({
  esbuild: {jsx: 'automatic', jsxImportSource: 'preact'},
  build: {target: 'es2020', assetsInlineLimit: 0, modulePreload: {polyfill: false}, reportCompressedSize: false},
  server: {proxy: {'/api': process.env.WEFT_HTTP ?? 'http://127.0.0.1:9640'}},
});
