import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { chooseTextSize, chooseTheme, chosenTextSize, chosenTheme, TEXT_SIZES, THEMES } from "./appearance";
import { Modal } from "./modal";
import { strings } from "./strings";

const said = strings.appearance;

interface AppearanceSettingsProps {
  who: ComponentChildren;
  onClose: () => void;
}

/** Colours and the size of letters; a choice is seen at once. */
export function AppearanceSettings({ who, onClose }: AppearanceSettingsProps) {
  const [theme, setTheme] = useState(chosenTheme);
  const [size, setSize] = useState(chosenTextSize);
  return (
    <Modal id="appearance" title={said.title} who={who} onClose={onClose}>
      <Choices
        name={said.theme}
        all={THEMES}
        chosen={theme}
        label={(one) => said.themes[one]}
        onChoose={(one) => {
          chooseTheme(one);
          setTheme(one);
        }}
      />
      <Choices
        name={said.textSize}
        all={TEXT_SIZES}
        chosen={size}
        label={said.percent}
        onChoose={(one) => {
          chooseTextSize(one);
          setSize(one);
        }}
      />
      <p class="sheet-note">{said.hint}</p>
    </Modal>
  );
}

interface ChoicesProps<T extends string> {
  name: string;
  all: readonly T[];
  chosen: T;
  label: (one: T) => string;
  onChoose: (one: T) => void;
}

function Choices<T extends string>({ name, all, chosen, label, onChoose }: ChoicesProps<T>) {
  return (
    <fieldset class="choices">
      <legend>{name}</legend>
      {all.map((one) => (
        <label key={one}>
          <input type="radio" name={name} checked={one === chosen} onChange={() => onChoose(one)} />
          {label(one)}
        </label>
      ))}
    </fieldset>
  );
}
