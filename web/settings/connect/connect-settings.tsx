import { useState } from "react"
import { Button } from "../../parts/button.tsx"
import { CopyButton } from "../../parts/copy-button.tsx"
import { Command, Part } from "../../parts/part.tsx"
import { useAttempt } from "../../parts/use-attempt.ts"
import { useShell } from "../../shell/shell-context.ts"
import { client } from "../../state/client.ts"
import { NO_TOKEN, type Program, programs } from "./programs.ts"

/** Lines to paste into other programs, with this server's address and a token that is made here and shown once. */
export function ConnectSettings() {
  const [path, setPath] = useState(programs[0]!.path)
  const chosen = programs.find((program) => program.path === path) ?? programs[0]!
  return (
    <Part title="Connect" says="Use your agents from other programs. Each takes these lines, with a token of its own.">
      <ul aria-label="Programs" className="mb-4 flex flex-wrap gap-1.5">
        {programs.map((program) => (
          <li key={program.path}>
            <button
              type="button"
              aria-pressed={program === chosen}
              onClick={() => setPath(program.path)}
              className="rounded-lg border border-line px-3 py-1 text-sm hover:bg-sunken aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent"
            >
              {program.name}
            </button>
          </li>
        ))}
      </ul>
      <Lines key={chosen.path} program={chosen} />
    </Part>
  )
}

function Lines({ program }: { readonly program: Program }) {
  const { identity } = useShell()
  const [token, setToken] = useState<string>()
  const lacking = (["manage", ...program.scopes] as const).filter((scope) => !identity.scopes.includes(scope))
  const lines = program.lines(location.origin, token ?? NO_TOKEN)
  const { once, isBusy } = useAttempt()
  const make = () =>
    once(async () => {
      const made = await client.createToken({ body: { name: program.name, scopes: [...program.scopes] } })
      setToken(made.token)
    })
  return (
    <div className="space-y-3">
      <p className="text-sm">{program.says}</p>
      <div className="flex items-center gap-2 text-sm text-soft">
        <span className="flex-1">Into {program.into}:</span>
        <CopyButton what="the lines" read={() => lines} />
      </div>
      <Command>{lines}</Command>
      {token !== undefined && (
        <p role="status" className="rounded-xl bg-good-soft px-4 py-3 text-sm text-good">
          The lines hold its token now, which is shown this once. It may {program.scopes.join(", ")}; you can take it
          back under Tokens.
        </p>
      )}
      {token === undefined && lacking.length === 0 && (
        <Button look="main" disabled={isBusy} onClick={() => void make()}>
          Put a token in
        </Button>
      )}
      {token === undefined && lacking.length > 0 && (
        <p className="text-sm text-soft">
          You have signed in without {lacking.join(", ")}, so you cannot make a token that may do it.
        </p>
      )}
      <p className="text-[13px] text-faint">
        More about it is in <code>docs/{program.docs}.md</code>.
      </p>
    </div>
  )
}
