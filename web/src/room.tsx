import { useCallback, useEffect, useMemo, useState } from "preact/hooks";

import { type Attaching, PaperQuestion, useAttaching } from "./attaching";
import { Banner } from "./banner";
import { BranchNote } from "./branch_note";
import { useBranching } from "./branching";
import { visibleTurns } from "./chat";
import { ChartPane, type ChartPartName } from "./chart_pane";
import { Composer, goToMessage } from "./composer";
import type { Link } from "./connection";
import { MemoryPanel } from "./memory_panel";
import { usePlanNotice } from "./notices";
import { AnswersContext, useAnswers } from "./opinions";
import { Known, Who } from "./patient_mark";
import { PlanCard } from "./plan_card";
import { QuestionCard } from "./question_card";
import { RecordSystemStrip } from "./record_system";
import { ReceiptPanel } from "./receipt_panel";
import { matching, SearchBar, useHighlight } from "./search";
import { BESIDE } from "./sheet";
import { ShellDialog, useShell } from "./shell";
import { SideBar } from "./side_bar";
import { type Opened, SourcePanel } from "./source_panel";
import { strings } from "./strings";
import { Transcript, type TurnActions } from "./transcript";
import type { Session } from "./types";
import { type ChatControls, isBusy, useChat, waitingCount } from "./use_chat";
import { type Draft, useDraft } from "./use_draft";
import { Welcome } from "./welcome";
import { useWorklist, WorklistKnown } from "./worklist";

/** Wide enough for the side bar to stand beside the conversation. */
const WIDE = "(min-width: 64rem)";
/** Wide enough for three panes: the chart is open from the beginning. */
const VERY_WIDE = "(min-width: 85rem)";

interface RoomProps {
  chatId: string;
  session: Session;
  drafts: Map<string, string>;
  onOpen: (chatId: string) => void;
  onNew: () => void;
  onSignIn: () => void;
}

/** One conversation and everything around it. */
export function Room({ chatId, session, drafts, onOpen, onNew, onSignIn }: RoomProps) {
  const controls = useChat(chatId);
  const { chat, link, send, withdraw } = controls;
  const patientId = chat.state.patient_id;
  const draft = useDraft(chatId, patientId, drafts);
  const [query, setQuery] = useState<string | null>(null);
  const [opened, setOpened] = useState<Opened | null>(null);
  const [receiptOf, setReceiptOf] = useState<string | null>(null);
  const [showsMemory, setShowsMemory] = useState(false);
  const [wantsChart, setChart] = useState(() => matchMedia(VERY_WIDE).matches);
  const [hasSideBar, setSideBar] = useState(() => matchMedia(WIDE).matches);
  const busy = isBusy(chat);
  // A tablet that is turned has no room for it any more: it would lie over the text.
  useEffect(() => {
    const wide = matchMedia(WIDE);
    const note = (): void => setSideBar(wide.matches);
    wide.addEventListener("change", note);
    return () => wide.removeEventListener("change", note);
  }, []);
  // What was opened belongs to the patient it was opened for.
  const closeSheets = useCallback((): void => {
    setOpened(null);
    setShowsMemory(false);
    setReceiptOf(null);
  }, []);
  useEffect(closeSheets, [patientId, closeSheets]);
  const showSource = useCallback(
    (source: Opened): void => {
      closeSheets();
      setOpened(source);
    },
    [closeSheets],
  );
  const showReceipt = useCallback(
    (runId: string): void => {
      closeSheets();
      setReceiptOf(runId);
    },
    [closeSheets],
  );
  const openWith = useCallback(
    (id: string, text: string): void => {
      drafts.set(id, text);
      onOpen(id);
    },
    [drafts, onOpen],
  );
  usePlanNotice(chat.state);
  const { edit, problem } = useBranching(chatId, draft.add, openWith);
  const actions = useMemo<TurnActions>(
    () => ({
      onEdit: edit,
      onResend: (text) => send(text),
      onWithdraw: withdraw,
      onRepeat: (text, of) => send(text, undefined, of),
      onSource: showSource,
      onReceipt: showReceipt,
    }),
    [send, withdraw, edit, showSource, showReceipt],
  );
  const hasChart = wantsChart && patientId !== null;
  const isOfPatient = patientId !== null && (opened !== null || showsMemory);
  const hasSheet = (isOfPatient || receiptOf !== null) && matchMedia(BESIDE).matches;
  const openChart = (): void => {
    // A tablet has room for two panes.
    if (!hasChart && !matchMedia(WIDE).matches) setSideBar(false);
    closeSheets();
    setChart(!hasChart);
  };
  const [wantedPart, setWantedPart] = useState<{ part: ChartPartName } | null>(null);
  const showChart = (part: ChartPartName): void => {
    if (!matchMedia(WIDE).matches) setSideBar(false);
    closeSheets();
    setWantedPart({ part });
    setChart(true);
  };
  const showMemory = (): void => {
    closeSheets();
    setShowsMemory(true);
  };
  const search = (): void => setQuery(query ?? "");
  const closeChart = useCallback(() => setChart(false), []);
  const openPatient = useCallback(
    (id: string): void => {
      if (!matchMedia(WIDE).matches) setSideBar(false);
      if (id !== patientId) send(`switch to ${id}`);
    },
    [patientId, send],
  );
  const worklist = useWorklist(link !== "lost", busy, openPatient);
  const shell = useShell();
  const attaching = useAttaching(chatId, patientId);
  const answers = useAnswers(chatId, chat);
  const takeDropped = (event: DragEvent): void => {
    if (attaching.take(event.dataTransfer?.files)) event.preventDefault();
  };
  const panes = ["room", hasSideBar && "with-side-bar", (hasChart || hasSheet) && "with-chart"]
    .filter(Boolean)
    .join(" ");
  const who = patientId !== null && (
    <Who people={chat.people} patientId={patientId} person={chat.people.get(patientId) ?? null} />
  );
  const closeOnEscape = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && !event.defaultPrevented && !matchMedia(WIDE).matches) setSideBar(false);
  };
  return (
    <Known.Provider value={chat.people}>
      <WorklistKnown.Provider value={worklist}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the side bar from anywhere */}
        <div class={panes} onKeyDown={closeOnEscape} onDragOver={allowFiles} onDrop={takeDropped}>
          {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place, and the address must stay */}
          <a class="skip" href="#message" onClick={skipToMessage}>
            {strings.skipToMessage}
          </a>
          <Banner
            chatId={chatId}
            state={chat.state}
            people={chat.people}
            visit={controls.visit}
            isOffline={session.model_kind === "offline"}
            isBusy={busy}
            onSwitch={(id) => send(`switch to ${id}`)}
            onSearch={search}
            onMemory={showMemory}
            hasChart={hasChart}
            onChart={openChart}
            onAllergies={() => showChart("allergies")}
          >
            <button
              type="button"
              class="button subtle"
              aria-expanded={hasSideBar}
              aria-controls="side-bar"
              aria-label={hasSideBar ? strings.chats.hide : strings.chats.show}
              onClick={() => setSideBar(!hasSideBar)}
            >
              ☰
            </button>
          </Banner>
          {hasSideBar && (
            <button
              type="button"
              class="scrim"
              aria-label={strings.chats.hide}
              tabIndex={-1}
              onClick={() => setSideBar(false)}
            />
          )}
          {hasSideBar && (
            <SideBar
              current={chatId}
              version={`${chat.state.patient_count} ${busy}`}
              isReachable={link !== "lost"}
              isBusy={busy}
              onPatient={openPatient}
              onOpen={onOpen}
              onNew={onNew}
              onShow={shell.show}
            />
          )}
          <AnswersContext.Provider value={answers}>
            <Middle
              controls={controls}
              session={session}
              query={query}
              onQuery={setQuery}
              actions={actions}
              onOpen={onOpen}
            />
          </AnswersContext.Provider>
          <Bottom
            controls={controls}
            problem={controls.problem ?? problem}
            session={session}
            attaching={attaching}
            draft={draft}
            onSignIn={onSignIn}
          />
          {hasChart && (
            <ChartPane
              key={`chart ${patientId}`}
              chatId={chatId}
              patientId={patientId}
              papers={attaching.version}
              wanted={wantedPart}
              onSource={showSource}
              onClose={closeChart}
            />
          )}
          {opened && patientId !== null && (
            <SourcePanel
              key={opened.citation.ref}
              chatId={chatId}
              patientId={patientId}
              opened={opened}
              who={who}
              onClose={() => setOpened(null)}
            />
          )}
          {receiptOf !== null && (
            <ReceiptPanel
              key={receiptOf}
              chatId={chatId}
              runId={receiptOf}
              patientId={patientId}
              who={who}
              onSource={showSource}
              onClose={() => setReceiptOf(null)}
            />
          )}
          {showsMemory && patientId !== null && (
            <MemoryPanel
              key={patientId}
              chatId={chatId}
              patientId={patientId}
              who={who}
              onClose={() => setShowsMemory(false)}
            />
          )}
          <ShellDialog
            shell={shell}
            chatId={chatId}
            state={chat.state}
            people={chat.people}
            who={who || strings.banner.noPatient}
            isBusy={busy || link === "lost"}
            deeds={{ openPatient, openChat: onOpen, newChat: onNew, search, showChart, showMemory }}
          />
        </div>
      </WorklistKnown.Provider>
    </Known.Provider>
  );
}

/** Without this the browser would leave the page for the file. */
function allowFiles(event: DragEvent): void {
  if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
}

/** The address names the conversation and must stay. */
function skipToMessage(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById("message")?.focus();
}

interface MiddleProps {
  controls: ChatControls;
  session: Session;
  query: string | null;
  onQuery: (query: string | null) => void;
  actions: TurnActions;
  onOpen: (chatId: string) => void;
}

function Middle({ controls, session, query, onQuery, actions, onOpen }: MiddleProps) {
  const { chat, isLoading, send, showEarlier } = controls;
  const turns = useMemo(() => visibleTurns(chat), [chat]);
  const found = useMemo(() => matching(turns, query ?? ""), [turns, query]);
  const hasEarlier = chat.earlier.has(chat.state.patient_id);
  const isSearching = query !== null && query.trim() !== "";
  useHighlight(query ?? "", found);
  const place = chat.earlier.get(chat.state.patient_id);
  // A search goes on into the past until it has read everything.
  useEffect(() => {
    if (isSearching && place !== undefined) showEarlier();
  }, [isSearching, place, showEarlier]);
  const isEmpty = turns.length === 0 && !isLoading;
  return (
    <main class="middle" tabIndex={-1}>
      {query !== null && (
        <SearchBar
          query={query}
          found={found.length}
          isReading={hasEarlier}
          onQuery={onQuery}
          onClose={() => onQuery(null)}
        />
      )}
      {chat.branchedFrom && <BranchNote origin={chat.branchedFrom} onOpen={onOpen} />}
      {isEmpty ? (
        <Welcome session={session} patientId={chat.state.patient_id} onPick={send} />
      ) : (
        <Transcript
          turns={found}
          session={session}
          actions={actions}
          follows={!isSearching}
          onEarlier={hasEarlier && !isSearching ? showEarlier : null}
        />
      )}
    </main>
  );
}

interface BottomProps {
  controls: ChatControls;
  problem: string | null;
  session: Session;
  attaching: Attaching;
  draft: Draft;
  onSignIn: () => void;
}

function Bottom({ controls, problem, session, attaching, draft, onSignIn }: BottomProps) {
  const { chat, link, isElsewhere, recordSystem, verifiedAt, send, stop } = controls;
  const { plan, question, patient_id, undo } = chat.state;
  const canSend = link === "open" || link === "connecting";
  const busy = isBusy(chat);
  // The card goes, and the focus of whoever pressed its button with it.
  const answer = (...said: Parameters<typeof send>): void => {
    send(...said);
    goToMessage();
  };
  const showsPlan = plan !== null && (plan.status === "proposed" || plan.status === "running");
  return (
    <footer class="bottom">
      {showsPlan && (
        <PlanCard
          key={plan.plan_id}
          plan={plan}
          isBusy={busy || !canSend}
          onAnswer={answer}
          onChange={draft.add}
        />
      )}
      {question && <QuestionCard question={question} isBusy={busy || !canSend} onAnswer={answer} />}
      {undo && (
        <p class="strip info" role="status">
          {strings.cleared}{" "}
          <button type="button" class="button" disabled={busy || !canSend} onClick={() => answer(undo.say)}>
            {strings.undoClear}
          </button>
        </p>
      )}
      {recordSystem && (
        <RecordSystemStrip
          told={recordSystem}
          patientId={patient_id}
          isBusy={busy || !canSend}
          onOpen={(id) => answer(`open ${id}`)}
        />
      )}
      <LinkStatus link={link} verifiedAt={verifiedAt} onSignIn={onSignIn} />
      {isElsewhere && (
        <p class="strip info" role="status">
          {strings.elsewhere}
        </p>
      )}
      {problem && (
        <p class="strip error" role="alert">
          {problem}
        </p>
      )}
      <PaperQuestion attaching={attaching} />
      <Composer
        draft={draft}
        isBusy={busy}
        canSend={canSend}
        waiting={waitingCount(chat)}
        patientId={patient_id}
        session={session}
        onFiles={attaching.take}
        onSend={(text) => {
          attaching.goOn();
          send(text);
        }}
        onStop={stop}
      />
    </footer>
  );
}

interface LinkStatusProps {
  link: Link;
  verifiedAt: Date;
  onSignIn: () => void;
}

function LinkStatus({ link, verifiedAt, onSignIn }: LinkStatusProps) {
  if (link === "lost") {
    return (
      <p class="strip warning" role="status">
        {strings.link.lost(verifiedAt.toLocaleTimeString())}
      </p>
    );
  }
  if (link !== "signed_out") return null;
  return (
    <p class="strip warning" role="alert">
      {strings.signIn.again}{" "}
      <button type="button" class="button" onClick={onSignIn}>
        {strings.signIn.againButton}
      </button>
    </p>
  );
}
