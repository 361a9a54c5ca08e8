import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [svelte()],
  // The folder works under any address.
  base: './',
  build: {
    target: 'es2022',
    // `cargo xtask web` says where.
    outDir: process.env.FIRSTFLIGHT_WEB_OUT ?? 'dist',
    emptyOutDir: true,
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    // Of what the page holds of others' libraries.
    license: { fileName: 'licences.md' },
  },
  // A page from disk may have no worker that is a module.
  worker: { format: 'iife' },
});
