import { useCallback, useEffect, useState } from "preact/hooks";

import * as http from "../api";
import { SignIn } from "../sign_in";
import { Emergencies } from "./emergencies";
import * as api from "./operator_api";
import { Quality } from "./quality";
import { ScenarioRoom, TABS, type Tab } from "./scenario_room";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { ScenarioCard } from "./types";
import { Upload } from "./upload";
import { words } from "./words";

interface Place {
  /** What is open beside the scenarios. */
  page: "quality" | "emergencies" | null;
  scenarioId: string | null;
  tab: Tab;
}

const PAGES = ["quality", "emergencies"] as const;

/** `#/scenario/tab`, `#quality` or `#emergencies`: what is open survives a reload. */
const placeInAddress = (): Place => {
  const [, id = "", tab = ""] = location.hash.split("/");
  const known = TABS.find((one) => one === tab);
  return {
    page: PAGES.find((one) => location.hash === `#${one}`) ?? null,
    scenarioId: id ? decodeURIComponent(id) : null,
    tab: known ?? "plan",
  };
};

/** The list of scenarios, the one that is open, and how good the answers are. */
export function Operator() {
  const [cards, setCards] = useState<ScenarioCard[] | null>(null);
  const [operator, setOperator] = useState("");
  const [place, setPlace] = useState<Place>(placeInAddress);
  const [needsSecond, setNeedsSecond] = useState(true);
  const [needsKey, setNeedsKey] = useState(false);
  const [login, setLogin] = useState<string | null>(null);
  const [isReviewer, setReviewer] = useState(false);
  const [isUploading, setUploading] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [stamp, setStamp] = useState(0);

  const go = (next: Place): void => {
    const scenario = `#/${encodeURIComponent(next.scenarioId ?? "")}/${next.tab}`;
    history.replaceState(null, "", next.page === null ? scenario : `#${next.page}`);
    setPlace(next);
  };
  const load = useCallback(async (): Promise<void> => {
    const found = await api.scenarios();
    setCards(found.scenarios);
    setOperator(found.operator);
    setNeedsSecond(found.require_approval);
    setNeedsKey(false);
  }, []);
  /** Who may not see scenarios may be here to review emergencies. */
  const explain = useCallback(async (error: unknown): Promise<void> => {
    setReviewer(
      await api.emergencies().then(
        () => true,
        () => false,
      ),
    );
    setTrouble(troubleOf(error));
  }, []);
  useEffect(() => {
    load().catch((error: unknown) => {
      if (http.isSignedOut(error)) {
        setLogin(error instanceof http.ApiError ? error.signIn : null);
        setNeedsKey(true);
      } else void explain(error);
    });
    const follow = (): void => setPlace(placeInAddress());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [load, explain]);

  const enter = async (): Promise<void> => {
    try {
      await load();
    } catch (error) {
      if (http.isSignedOut(error) || !(error instanceof http.ApiError)) throw error;
      setNeedsKey(false);
      await explain(error);
    }
  };
  if (needsKey) return <SignIn login={login} onSignIn={enter} />;
  if (isReviewer) {
    return (
      <main class="scenario-main">
        <h1 class="product">Rounds</h1>
        <Emergencies />
      </main>
    );
  }
  if (trouble) {
    return (
      <main class="stopped">
        <h1>{words.title}</h1>
        <Problem trouble={trouble} />
        <p>{words.forbidden}</p>
      </main>
    );
  }
  if (!cards) {
    return (
      <main class="loading">
        <p role="status">{words.loading}</p>
      </main>
    );
  }
  const open = place.scenarioId ?? cards[0]?.scenario_id ?? null;
  return (
    <div class="operator">
      <header class="operator-head">
        <h1>
          <span class="product">Rounds</span> {words.title}
        </h1>
        <span class="hint">{words.subtitle}</span>
        <span class="spacer" />
        <span class="hint">{words.signedInAs(operator)}</span>
        <a href="/">{words.toChat}</a>
      </header>
      <nav class="scenario-list" aria-label={words.list}>
        <button type="button" class="button primary" onClick={() => setUploading(true)}>
          {words.upload}
        </button>
        {PAGES.map((page) => (
          <button
            key={page}
            type="button"
            class="side-item"
            {...(place.page === page ? { "aria-current": "page" as const } : {})}
            onClick={() => go({ ...place, page })}
          >
            <span class="side-title">{words[page].title}</span>
          </button>
        ))}
        <ul>
          {cards.map((card) => (
            <li key={card.scenario_id}>
              <button
                type="button"
                class="side-item"
                {...(card.scenario_id === open && place.page === null
                  ? { "aria-current": "page" as const }
                  : {})}
                onClick={() => go({ page: null, scenarioId: card.scenario_id, tab: "plan" })}
              >
                <span class="side-title">{card.name}</span>
                <span class="side-note">
                  {card.active === null ? words.notActive : words.active(card.active)}
                  {card.plan_status && ` · ${planWord(card.plan_status)}`}
                </span>
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <main class="scenario-main">
        {place.page === "quality" ? (
          <Quality />
        ) : place.page === "emergencies" ? (
          <Emergencies />
        ) : open === null ? (
          <p class="empty">{words.none}</p>
        ) : (
          <ScenarioRoom
            key={`${open}-${stamp}`}
            scenarioId={open}
            operator={operator}
            needsSecond={needsSecond}
            tab={place.tab}
            onTab={(tab) => go({ page: null, scenarioId: open, tab })}
            onChanged={() => load().catch(() => undefined)}
          />
        )}
      </main>
      {isUploading && (
        <Upload
          scenarios={cards}
          onClose={() => setUploading(false)}
          onStored={async (id) => {
            setUploading(false);
            await load();
            go({ page: null, scenarioId: id, tab: "plan" });
            setStamp((before) => before + 1);
          }}
        />
      )}
    </div>
  );
}

const planWord = (status: string): string =>
  (words.plan.statuses as Record<string, string>)[status]?.toLowerCase() ?? status;
