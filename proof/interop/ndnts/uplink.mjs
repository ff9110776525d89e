// The face to the forwarder that NDN_CLIENT_TRANSPORT names.
import { TcpTransport, UdpTransport, UnixTransport } from "@ndn/node-transport";
import { WsTransport } from "@ndn/ws-transport";

/** Adds a face to the default logical forwarder; `routes` lead there. */
export async function uplink(routes) {
  const where = new URL(process.env.NDN_CLIENT_TRANSPORT);
  const options = { addRoutes: routes };
  switch (where.protocol) {
    case "unix:":
      return UnixTransport.createFace(options, where.pathname);
    case "tcp:":
      return TcpTransport.createFace(options, where.hostname, Number(where.port));
    case "udp:":
      return UdpTransport.createFace(options, { host: where.hostname, port: Number(where.port) });
    case "ws:":
      return WsTransport.createFace(options, where.href);
    default:
      throw new Error(`no such transport: ${where}`);
  }
}
