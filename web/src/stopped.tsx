import { useEffect } from "preact/hooks";

import { strings } from "./strings";

/** The page without its conversation; once the browser has a network again it begins anew by itself. */
export function Stopped({ text }: { text: string }) {
  const isOffline = !navigator.onLine;
  useEffect(() => {
    const again = (): void => location.reload();
    addEventListener("online", again);
    return () => removeEventListener("online", again);
  }, []);
  return (
    <main class="stopped">
      <h1>{isOffline ? strings.offline.title : strings.product}</h1>
      <p role="alert">{isOffline ? strings.offline.text : text}</p>
      <button type="button" class="button primary" onClick={() => location.reload()}>
        {strings.tryAgain}
      </button>
    </main>
  );
}
