import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import {
  chooseNotices,
  chooseTextSize,
  chooseTheme,
  chosenTextSize,
  chosenTheme,
  hasNotices,
  TEXT_SIZES,
  THEMES,
} from "./appearance";
import { Modal } from "./modal";
import { mayShowNotices } from "./notices";
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
      <NoticeChoice />
      <p class="sheet-note">{said.hint}</p>
    </Modal>
  );
}

function NoticeChoice() {
  const [isOn, setOn] = useState(hasNotices);
  const [isRefused, setRefused] = useState(false);
  const choose = async (isWanted: boolean): Promise<void> => {
    const may = isWanted && (await mayShowNotices());
    chooseNotices(may);
    setOn(may);
    setRefused(isWanted && !may);
  };
  return (
    <>
      <label class="choice">
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => void choose(event.currentTarget.checked)}
        />
        {strings.notices.choice}
      </label>
      {isRefused && <p role="alert">{strings.notices.refused}</p>}
    </>
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
