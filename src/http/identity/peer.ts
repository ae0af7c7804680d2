/** Where a request comes from: what is known of the other end of its connection, and whether that is this machine. */
import { BlockList, isIP } from 'node:net'

/** The other end of the connection that a request came by. */
export interface Peer {
  /** Its IP address, as Node has it; left out where it is not known, as on a Unix socket. */
  readonly address?: string | undefined
}

/** The end of a connection of Node's own server. */
export const peerOf = (socket: { readonly remoteAddress?: string | undefined }): Peer => ({
  address: socket.remoteAddress,
})

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/** Whether an IP address is this machine's own, also where it is written as IPv4 inside IPv6. */
export const isLoopbackAddress = (address: string): boolean =>
  isIP(address) !== 0 && loopback.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')

/** Whether a host, an address or a name without a port, can only be this machine. */
export const isLoopbackHost = (host: string): boolean =>
  /^([a-z0-9-]+\.)*localhost$/i.test(host) || isLoopbackAddress(host)

/** The host in a `Host` header, without its port and brackets; `null` when it is malformed. */
export const hostIn = (header: string): string | null => {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:@/?#[\]\s]+))(?::\d*)?$/.exec(header) ?? []
  return bracketed ?? plain ?? null
}
