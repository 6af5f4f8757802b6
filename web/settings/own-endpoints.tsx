import { useState } from "react"
import type { ProviderView } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { Part, Things } from "../parts/part.tsx"
import { Plain } from "../parts/plain.tsx"
import { client } from "../state/client.ts"
import { toast } from "../state/toasts.ts"
import { EndpointForm } from "./endpoint-form.tsx"

interface EndpointsProps {
  readonly endpoints: readonly ProviderView[]
  readonly onChanged: () => Promise<void>
}

/** Servers of models to which the person gave a name. */
export function OwnEndpoints({ endpoints, onChanged }: EndpointsProps) {
  const [isOpen, setOpen] = useState(false)
  const done = async () => {
    setOpen(false)
    await onChanged()
  }
  return (
    <Part
      title="Endpoints of your own"
      says="Any server that speaks OpenAI's chat completions or Anthropic's messages, under a name of yours: its models go by name/model, in your conversations only."
    >
      {endpoints.length > 0 && (
        <Things>
          {endpoints.map((each) => (
            <Endpoint key={each.name} provider={each} onChanged={onChanged} />
          ))}
        </Things>
      )}
      <div className="mt-3">
        <Button small onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
          Add an endpoint
        </Button>
      </div>
      {isOpen && <EndpointForm onDone={done} />}
    </Part>
  )
}

interface EndpointProps {
  readonly provider: ProviderView
  readonly onChanged: () => Promise<void>
}

function Endpoint({ provider, onChanged }: EndpointProps) {
  const { name, baseUrl, endpoint, need } = provider
  const [isOpen, setOpen] = useState(false)
  const remove = () =>
    attempt(async () => {
      await client.removeProvider({ params: { name } })
      await onChanged()
      toast("Forgotten.")
    })
  const done = async () => {
    setOpen(false)
    await onChanged()
  }
  return (
    <li className="px-3.5 py-2">
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 flex-1">
          <Plain text={name} />
          <span className="block text-[13px] text-faint">
            {need ?? <Plain text={`${baseUrl ?? ""}, ${endpoint?.hasKey ? "with a key" : "without a key"}`} />}
          </span>
        </span>
        <Button small onClick={() => void remove()}>
          Forget
        </Button>
        {endpoint && (
          <Button small onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
            Change
          </Button>
        )}
      </div>
      {isOpen && <EndpointForm provider={provider} onDone={done} />}
    </li>
  )
}
