import { Plug } from "../../icons/things.ts"
import { forPeople } from "../../parts/words.ts"
import { Link } from "../../parts/link.tsx"
import { Plain } from "../../parts/plain.tsx"
import type { Catalogue } from "../../state/catalogue.ts"

interface ConnectModelProps {
  readonly models: Catalogue["models"]
  readonly chosen: string | undefined
}

/** For whoever talks to the offline model: what it is, and how to get a real one. */
export function ConnectModel({ models, chosen }: ConnectModelProps) {
  const current = models.items.find(({ name }) => name === (chosen ?? models.default))
  if (current?.provider !== "offline") return null
  const needs = [...new Map(models.items.flatMap((model) => (model.need ? [[model.provider, model.need]] : [])))]
  return (
    <details className="mt-8 rounded-xl bg-sunken px-4 py-3 text-sm">
      <summary className="flex items-center gap-2.5">
        <Plug className="size-4 shrink-0 text-accent" aria-hidden="true" />
        <span>
          You are talking to the offline model, which knows the requests above.{" "}
          <span className="text-accent underline underline-offset-2">Connect a real one</span>
        </span>
      </summary>
      <div className="mt-3 space-y-2 text-soft">
        <p>
          A key of your own, stored in{" "}
          <Link to="/settings/models" className="text-accent underline underline-offset-2">
            Settings
          </Link>
          , counts at once; what is set where the server is started, from its next start on.
        </p>
        <ul className="space-y-1">
          {needs.map(([provider, need]) => (
            <li key={provider}>
              <Plain text={provider} />: <Plain text={forPeople(need)} />
            </li>
          ))}
        </ul>
      </div>
    </details>
  )
}
