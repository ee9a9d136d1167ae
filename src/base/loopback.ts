/** Names of this machine for itself; the form of IPv6 in URLs included. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|\[?::1\]?|127(\.\d{1,3}){3})$/i.test(host);
}
