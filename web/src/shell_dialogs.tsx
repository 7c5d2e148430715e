import { AppearanceSettings } from "./appearance_settings";
import { Palette } from "./palette";
import type { ShellProps, Shown } from "./shell";
import { Shortcuts } from "./shortcuts";

/** The dialogs that are fetched when first wanted. */
export function ShellDialogs({ shown, ...props }: ShellProps & { shown: Shown }) {
  switch (shown) {
    case "palette":
      return <Palette {...props} />;
    case "shortcuts":
      return <Shortcuts who={props.who} onClose={props.onClose} />;
    case "appearance":
      return <AppearanceSettings who={props.who} onClose={props.onClose} />;
  }
}
