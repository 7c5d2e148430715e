import { defineConfig } from "vitest/config";

export default defineConfig({
  // Everything is a file of its own: the content security policy allows nothing inline.
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    // Two pages: who chats does not load what operators need.
    rollupOptions: { input: ["index.html", "operator.html"] },
  },
  test: { include: ["tests/**/*.test.{ts,tsx}"], environment: "happy-dom" },
  server: { proxy: { "/api": { target: "http://127.0.0.1:3978", ws: true } } },
});
