import { defineConfig } from "vite";

export default defineConfig({
  // Everything is a file of its own: the content security policy allows nothing inline.
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
  server: { proxy: { "/api": { target: "http://127.0.0.1:3978", ws: true } } },
});
