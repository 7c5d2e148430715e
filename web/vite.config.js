import { defineConfig } from "vitest/config";

/** Colours and size that the user chose are set before the first frame, not after a flash of others. */
const firstFrameWaits = {
  name: "first-frame-waits",
  transformIndexHtml: {
    order: "post",
    handler: (html) => html.replace('<script type="module"', '<script type="module" blocking="render"'),
  },
};

export default defineConfig({
  plugins: [firstFrameWaits],
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
