/** Tells of the end of a plan while the page is out of view; names no patient, since a screen may be seen by others. */

import { useEffect, useRef } from "preact/hooks";

import { hasNotices } from "./appearance";
import { strings } from "./strings";
import type { SharedState } from "./types";

/** Whether the browser shows notices for this page; asks its user where nobody has decided. */
export async function mayShowNotices(): Promise<boolean> {
  if (!("Notification" in window)) return false;
  return (await Notification.requestPermission()) === "granted";
}

export function usePlanNotice({ plan, patient_id }: SharedState): void {
  const before = useRef<string | null>(null);
  // A running plan that is out of the state because another chart was opened has not ended.
  const running = plan?.status === "running" ? patient_id : null;
  useEffect(() => {
    const hasEnded = before.current !== null && before.current === patient_id && running === null;
    before.current = running;
    if (!hasEnded || !document.hidden || !hasNotices()) return;
    try {
      new Notification(strings.product, { body: strings.notices.planEnded, tag: "rounds-plan" });
    } catch {
      // A phone's browser shows them through its worker alone, and ours keeps nothing but the page.
    }
  }, [running, patient_id]);
}
