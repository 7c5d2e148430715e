import { AppearanceSettings } from "./appearance_settings";
import type { ShellProps, Shown } from "./shell";

/** The dialogs that are fetched when first wanted. */
export function ShellDialogs({ shown, ...props }: ShellProps & { shown: Shown }) {
  switch (shown) {
    case "appearance":
      return <AppearanceSettings who={props.who} onClose={props.onClose} />;
  }
}
