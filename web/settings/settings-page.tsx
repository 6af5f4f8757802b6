import type { ComponentType } from "react"
import { Link } from "../parts/link.tsx"
import { MissingPage } from "../shell/missing-page.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { ConnectionSettings } from "../connections/connection-settings.tsx"
import { ConnectSettings } from "./connect/connect-settings.tsx"
import { DataSettings } from "./data-settings.tsx"
import { DeviceSettings } from "./device-settings.tsx"
import { McpSettings } from "./mcp-settings.tsx"
import { ModelSettings } from "./model-settings.tsx"
import { SessionSettings } from "./session-settings.tsx"
import { SharedSettings } from "./shared-settings.tsx"
import { TokenSettings } from "./token-settings.tsx"
import { UsageSettings } from "./usage-settings.tsx"

interface Section {
  readonly path: string
  readonly name: string
  readonly draw: ComponentType
}

const sections: readonly Section[] = [
  { path: "models", name: "Models", draw: ModelSettings },
  { path: "connect", name: "Connect", draw: ConnectSettings },
  { path: "tokens", name: "Tokens", draw: TokenSettings },
  { path: "sessions", name: "Sessions", draw: SessionSettings },
  { path: "devices", name: "Devices", draw: DeviceSettings },
  { path: "connections", name: "Connections", draw: ConnectionSettings },
  { path: "mcp", name: "MCP servers", draw: McpSettings },
  { path: "usage", name: "Usage", draw: UsageSettings },
  { path: "shared", name: "Shared runs", draw: SharedSettings },
  { path: "data", name: "Your data", draw: DataSettings },
]

export function SettingsPage({ section = "models" }: { readonly section?: string }) {
  const shown = sections.find(({ path }) => path === section)
  if (!shown) return <MissingPage />
  return (
    <>
      <PageHeader title="Settings" />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto w-full max-w-3xl px-3 pb-10 md:px-6">
          <ul aria-label="Settings" className="mb-5 flex flex-wrap gap-1 border-b border-line pb-2">
            {sections.map(({ path, name }) => (
              <li key={path}>
                <Link
                  to={`/settings/${path}`}
                  aria-current={path === section ? "page" : undefined}
                  className="block rounded-lg px-3 py-1 text-sm text-soft hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent"
                >
                  {name}
                </Link>
              </li>
            ))}
          </ul>
          <shown.draw key={shown.path} />
        </div>
      </div>
    </>
  )
}
