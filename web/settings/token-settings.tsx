import { useState } from "react"
import { type Scope, scopes, usualScopes } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { CopyButton } from "../parts/copy-button.tsx"
import { Confirm } from "../parts/dialog.tsx"
import { attempt } from "../parts/explain.ts"
import { Labelled } from "../parts/labelled.tsx"
import { Plain } from "../parts/plain.tsx"
import { time } from "../parts/words.ts"
import { useShell } from "../shell/shell-context.ts"
import { client } from "../state/client.ts"
import { Part, Things } from "../parts/part.tsx"
import { readPages } from "../state/read-pages.ts"
import { useLoaded } from "../parts/use-loaded.tsx"
import { useAttempt } from "../parts/use-attempt.ts"

const SAYS: Record<Scope, string> = {
  read: "look",
  chat: "speak",
  approve: "decide about changes, and change by hand",
  manage: "tokens, providers, connections, deletes and exports",
  admin: "look after the server",
  "self-approve": "write on its own device without asking",
}

/** Tokens for programs: made, shown once, revoked. */
export function TokenSettings() {
  const { value, reload, trouble } = useLoaded(() => readPages((query) => client.listTokens({ query })))
  const [made, setMade] = useState<string>()
  const [revoking, setRevoking] = useState<{ readonly id: string; readonly name: string }>()
  return (
    <Part title="Tokens" says="A program comes in with a token. It may do what you allow it, in your name.">
      {trouble}
      {made !== undefined && (
        <div role="status" className="mb-4 rounded-xl bg-good-soft px-4 py-3 text-sm">
          <p className="mb-2 text-good">Here is the new token. It is shown this once; keep it where only you look.</p>
          <div className="flex items-center gap-2">
            <code className="min-w-0 flex-1 font-mono text-[13px] [overflow-wrap:anywhere]">{made}</code>
            <CopyButton what="the token" read={() => made} />
            <Button small onClick={() => setMade(undefined)}>
              I have it
            </Button>
          </div>
        </div>
      )}
      <NewToken
        onMade={async (token) => {
          setMade(token)
          await reload()
        }}
      />
      {value && value.length > 0 && (
        <Things>
          {value.map(({ id, name, scopes: allowed, createdAt }) => (
            <li key={id} className="flex items-center gap-3 px-3.5 py-2">
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                <Plain text={name ?? "Without a name"} />
                <span className="block text-[13px] text-faint">
                  may {allowed.join(", ")}; made {time(createdAt)}
                </span>
              </span>
              <Button small onClick={() => setRevoking({ id, name: name ?? "Without a name" })}>
                Revoke
              </Button>
            </li>
          ))}
        </Things>
      )}
      {revoking && (
        <Confirm
          title="Revoke this token?"
          says={
            <>
              “<Plain text={revoking.name} />” stops working at once, and what it has working is cancelled.
            </>
          }
          act="Revoke"
          onClose={() => setRevoking(undefined)}
          onAct={() => {
            setRevoking(undefined)
            void attempt(() => client.revokeToken({ params: { id: revoking.id } })).then(reload)
          }}
        />
      )}
    </Part>
  )
}

function NewToken({ onMade }: { readonly onMade: (token: string) => Promise<void> }) {
  const { identity } = useShell()
  const [name, setName] = useState("")
  const [chosen, setChosen] = useState<readonly Scope[]>(usualScopes)
  const { once, isBusy } = useAttempt()
  const make = () =>
    once(async () => {
      const body = { scopes: [...chosen], ...(name.trim() ? { name: name.trim() } : {}) }
      const { token } = await client.createToken({ body })
      setName("")
      await onMade(token)
    })
  return (
    <form
      className="mb-4 space-y-3 rounded-xl bg-sunken px-4 py-3"
      onSubmit={(event) => {
        event.preventDefault()
        void make()
      }}
    >
      <Labelled label="What is it for?">
        <input value={name} maxLength={100} onChange={(event) => setName(event.target.value)} className="field" />
      </Labelled>
      <fieldset className="text-sm">
        <legend className="mb-1 text-soft">It may</legend>
        <div className="flex flex-wrap gap-x-4 gap-y-1">
          {scopes
            .filter((scope) => identity.scopes.includes(scope))
            .map((scope) => (
              <label key={scope} className="flex items-center gap-2">
                <input
                  type="checkbox"
                  checked={chosen.includes(scope)}
                  onChange={({ target }) =>
                    setChosen(target.checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))
                  }
                />
                {SAYS[scope]} <span className="text-faint">({scope})</span>
              </label>
            ))}
        </div>
      </fieldset>
      <Button look="main" type="submit" disabled={chosen.length === 0 || isBusy}>
        Make a token
      </Button>
    </form>
  )
}
