import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { chooseSingleKeys, hasSingleKeys } from "./appearance";
import { CONTROL } from "./keys";
import { Modal } from "./modal";
import { strings } from "./strings";

const said = strings.shortcuts;

interface ShortcutsProps {
  who: ComponentChildren;
  onClose: () => void;
}

/** What the keys do. */
export function Shortcuts({ who, onClose }: ShortcutsProps) {
  const [hasSingle, setSingle] = useState(hasSingleKeys);
  const choose = (isOn: boolean): void => {
    chooseSingleKeys(isOn);
    setSingle(isOn);
  };
  return (
    <Modal id="shortcuts" title={said.title} who={who} onClose={onClose}>
      <dl class="shortcuts">
        {said.list(CONTROL ?? strings.palette.control).map(([keys, deed]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{deed}</dd>
          </div>
        ))}
      </dl>
      <label class="choice">
        <input
          type="checkbox"
          checked={hasSingle}
          onChange={(event) => choose(event.currentTarget.checked)}
        />
        {said.singleKeys}
      </label>
    </Modal>
  );
}
