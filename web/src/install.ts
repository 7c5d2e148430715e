import { isFramed } from "./api";

const WORKER = "/worker.js";

/** The policy lets an address of a script be used only if it was made so. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: () => string },
  ): {
    createScriptURL: (url: string) => string;
  };
}

/** Has the browser keep the page itself (public/worker.js), which makes it one that can be installed. */
export function keepShell(): void {
  if (!("serviceWorker" in navigator) || isFramed()) return;
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  // Whatever it is asked for, it names the one worker there is.
  const policy = trustedTypes?.createPolicy("rounds-worker", { createScriptURL: () => WORKER });
  const address = policy ? policy.createScriptURL(WORKER) : WORKER;
  navigator.serviceWorker.register(address, { updateViaCache: "none" }).catch(() => {
    // A browser that forbids it has the page as it is.
  });
}
