import type { DeviceRequest } from "../../../core/protocol/index.ts"
import { Key, Laptop } from "../components/icons.tsx"
import { Button, Link } from "../components/button.tsx"
import { attempt } from "../components/explain.ts"
import { NameBox, Plain } from "../components/plain.tsx"
import { Command, Section, ItemList } from "../components/section.tsx"
import { useLoaded } from "../components/use-loaded.tsx"
import { base, client } from "../state/client.ts"
import { toast } from "../state/toasts.ts"
import { time } from "../strings/format.ts"
import { rich, t } from "../strings/strings.ts"

/** The user's devices that are connected now, and how to connect one. */
export function DeviceSettings() {
  const { value, reload, trouble } = useLoaded(() => client.listDevices())
  return (
    <>
      <DeviceRequests />
      <Section title={t("settings.devices")} says={t("settings.devicesHint")}>
        {trouble}
        {value?.items.length === 0 && <p className="mb-3 text-sm text-faint">{t("settings.devicesEmpty")}</p>}
        {value && value.items.length > 0 && (
          <ItemList>
            {value.items.map(({ deviceId, offers, connectedAt }) => (
              <li key={deviceId} className="flex items-center gap-3 px-3.5 py-2">
                <Laptop className="size-4 shrink-0 text-faint" aria-hidden="true" />
                <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                  <Plain text={deviceId} />
                  <span className="block text-[13px] text-faint">
                    {t("settings.deviceConnected", { time: time(connectedAt) })}
                    {offers.length > 0 && (
                      <> · {rich("settings.deviceOffers", { names: <Plain text={offers.join(", ")} /> })}</>
                    )}
                  </span>
                </span>
              </li>
            ))}
          </ItemList>
        )}
        <Button small className="mt-3" onClick={() => void reload()}>
          {t("settings.refresh")}
        </Button>
      </Section>
      <Section
        title={t("settings.connectDevice")}
        says={rich("settings.connectDeviceHint", {
          link: (inner) => (
            <Link to="/settings/tokens" className="text-accent underline underline-offset-2">
              {inner}
            </Link>
          ),
        })}
      >
        <Command>{`PAWL_TOKEN=… npx pawl device --server ${location.origin}${base} --db ~/workspace.db`}</Command>
      </Section>
    </>
  )
}

/** Credentials that asked to connect as a device that belongs to another credential. Draws nothing if there are none. */
function DeviceRequests() {
  const { value, reload, trouble } = useLoaded(() => client.listDeviceRequests())
  if (!trouble && (value?.items.length ?? 0) === 0) return undefined
  const allow = ({ id }: DeviceRequest) =>
    attempt(async () => {
      await client.allowDeviceRequest({ params: { id } })
      toast(t("settings.deviceAllowed"))
    }).then(reload)
  const refuse = ({ id }: DeviceRequest) => attempt(() => client.refuseDeviceRequest({ params: { id } })).then(reload)
  return (
    <Section title={t("settings.deviceRequests")} says={t("settings.deviceRequestsHint")}>
      {trouble}
      <ItemList>
        {value?.items.map((request) => (
          <li key={request.id} className="flex items-center gap-3 px-3.5 py-2">
            <Key className="size-4 shrink-0 text-faint" aria-hidden="true" />
            <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
              <span className="block text-[13px] text-faint">
                {t("settings.deviceRequested", { time: time(request.askedAt) })}
                <NameBox text={request.deviceId} />
              </span>
              <span className="mt-1.5 block text-[13px] text-faint">
                {t("settings.deviceRequestBy", { type: request.credential.type })}
                <NameBox text={request.credential.name ?? request.credential.id} />
              </span>
            </span>
            <Button small onClick={() => void refuse(request)}>
              {t("settings.deviceDeny")}
            </Button>
            <Button small onClick={() => void allow(request)}>
              {t("settings.deviceAllow")}
            </Button>
          </li>
        ))}
      </ItemList>
    </Section>
  )
}
