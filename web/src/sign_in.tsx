import { useState } from "preact/hooks";

import * as api from "./api";
import { strings } from "./strings";

const said = strings.signIn;

interface SignInProps {
  /** Where users sign in with their organisation, if they do. */
  login: string | null;
  /** Tries the key; throws if it is not accepted. */
  onSignIn: () => Promise<void>;
}

/** Asks for the key where the server wants one; it lives in this page's memory only. */
export function SignIn({ login, onSignIn }: SignInProps) {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isTrying, setTrying] = useState(false);
  const submit = async (): Promise<void> => {
    if (!api.isSendable(key.trim())) {
      setProblem(said.unsendable);
      return;
    }
    setTrying(true);
    setProblem(null);
    api.signInWith(key.trim());
    try {
      await onSignIn();
    } catch (error) {
      api.signInWith(null);
      setProblem(api.isSignedOut(error) ? said.refused : strings.unreachable);
      setTrying(false);
    }
  };
  return (
    <main class="stopped">
      <h1>{said.title}</h1>
      {login && (
        <a class="button primary" href={login}>
          {said.organisation}
        </a>
      )}
      <form
        class="sign-in"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <label for="key">{said.label}</label>
        <input
          id="key"
          type="password"
          autocomplete="off"
          autofocus
          value={key}
          aria-describedby="key-hint"
          aria-invalid={problem !== null}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <p id="key-hint" class="side-note">
          {said.hint}
        </p>
        {problem && (
          <p class="strip error" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="button primary" disabled={isTrying || key.trim() === ""}>
          {said.submit}
        </button>
      </form>
    </main>
  );
}
