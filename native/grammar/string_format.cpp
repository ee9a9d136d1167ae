#include "grammar/string_format.h"

#include <array>
#include <map>
#include <mutex>
#include <string>

#include "grammar/encoded_dfa.h"
#include "grammar/regex.h"

namespace wl::grammar {
namespace {

const char* const kDate =
    "(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))"
    "|(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";
const char* const kTime =
    "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)";
const char* const kByteNumber = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";

// RFC 3986, with "pchar" and so on spelled out.
const char* const kUriHead =
    "[a-zA-Z][a-zA-Z0-9+.-]*:(?://(?:(?:[a-zA-Z0-9._~!$&'()*+,;=:-]|%[0-9a-fA-F]{2})*@)?"
    "(?:[a-zA-Z0-9._~!$&'()*+,;=-]|%[0-9a-fA-F]{2})*(?::\\d*)?";
const char* const kUriChar = "(?:[a-zA-Z0-9._~!$&'()*+,;=:@-]|%[0-9a-fA-F]{2})";
const char* const kUriTail =
    "(?:\\?(?:[a-zA-Z0-9._~!$&'()*+,;=:@/?-]|%[0-9a-fA-F]{2})*)?"
    "(?:#(?:[a-zA-Z0-9._~!$&'()*+,;=:@/?-]|%[0-9a-fA-F]{2})*)?";

std::string uri_path() { return std::string("(?:/") + kUriChar + "*)*"; }

std::string uri() {
  const std::string character = kUriChar;
  return kUriHead + uri_path() + "|/(?:" + character + "+" + uri_path() + ")?|" + character + "+" +
         uri_path() + ")" + kUriTail;
}

std::string uri_reference() {
  // Without a scheme the first segment has no colon.
  const std::string segment = "(?:[a-zA-Z0-9._~!$&'()*+,;=@-]|%[0-9a-fA-F]{2})+";
  return "(?:" + uri() + "|(?:/(?:" + kUriChar + "+" + uri_path() + ")?|" + segment + uri_path() +
         ")?" + kUriTail + ")";
}

/// At most 253 characters, labels of at most 63: nine labels of 27 or four of 62 are all that
/// names need, and do without a count of both.
std::string hostname() {
  const auto labels = [](const std::string& inner, const std::string& more) {
    const std::string label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0," + inner + "}[a-zA-Z0-9])?";
    return label + "(?:\\." + label + "){0," + more + "}";
  };
  return "(?:" + labels("25", "8") + "|" + labels("60", "3") + ")";
}

std::string ipv4() { return std::string(kByteNumber) + "(?:\\." + kByteNumber + "){3}"; }

/// `count` groups, each with a colon behind it.
std::string ipv6_groups(size_t count) {
  std::string groups;
  for (size_t i = 0; i < count; ++i) groups.append("[0-9a-fA-F]{1,4}:");
  return groups;
}

/// Groups on both sides of "::", which stands for one group at least; the last two may be an IPv4
/// address.
std::string ipv6() {
  const std::string group = "[0-9a-fA-F]{1,4}";
  std::string all = ipv6_groups(7) + group + "|" + ipv6_groups(6) + ipv4();
  for (size_t before = 0; before <= 7; ++before) {
    const std::string head = before == 0 ? "::" : ipv6_groups(before) + ":";
    all.append("|").append(head);
    for (size_t after = 1; before + after <= 7; ++after) {
      all.append("|").append(head).append(ipv6_groups(after - 1)).append(group);
      if (after < 2) continue;
      all.append("|").append(head).append(ipv6_groups(after - 2)).append(ipv4());
    }
  }
  return all;
}

std::string email() {
  const std::string atom = "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+";
  const std::string label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?";
  return atom + "(?:\\." + atom + ")*@(?:" + label + "\\.)+" + label;
}

std::string duration() {
  const std::string time = "T(?:\\d+H(?:\\d+M)?(?:\\d+S)?|\\d+M(?:\\d+S)?|\\d+S)";
  const std::string date = "(?:\\d+Y(?:\\d+M)?(?:\\d+D)?|\\d+M(?:\\d+D)?|\\d+D)";
  return "P(?:" + date + "(?:" + time + ")?|" + time + "|\\d+W)";
}

const char* const kPointer = "(?:/(?:[^~/]|~0|~1)*)*";

/// The expression of a format; empty for a name that is none.
std::string pattern_of(std::string_view name) {
  if (name == "date") return kDate;
  if (name == "time") return kTime;
  if (name == "date-time") return std::string(kDate) + "T" + kTime;
  if (name == "duration") return duration();
  if (name == "uuid") return "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}";
  if (name == "email") return email();
  if (name == "hostname") return hostname();
  if (name == "ipv4") return ipv4();
  if (name == "ipv6") return ipv6();
  if (name == "uri") return uri();
  if (name == "uri-reference") return uri_reference();
  if (name == "url") {
    return "https?://(?:[a-zA-Z0-9]+-)*[a-zA-Z0-9]+(?:\\.(?:[a-zA-Z0-9]+-)*[a-zA-Z0-9]+)*"
           "\\.[a-zA-Z]{2,24}(?::\\d{2,5})?" +
           uri_path() + kUriTail;
  }
  if (name == "json-pointer") return kPointer;
  if (name == "relative-json-pointer") return std::string("(?:0|[1-9]\\d*)(?:#|") + kPointer + ")";
  if (name == "byte") {
    return "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?";
  }
  return {};
}

constexpr std::array<std::string_view, 5> kUnsupported = {
    "regex", "uri-template", "iso-time", "iso-date-time", "json-pointer-uri-fragment"};

StringFormat build(const std::string& pattern) {
  auto strings = parse_regex(pattern);
  if (!strings.ok()) throw InternalError("a format's pattern: " + strings.error().message);
  auto json_rest = std::make_shared<const ByteDfa>(json_string_rest_dfa(strings.value()));
  return {std::move(strings).value(), std::move(json_rest)};
}

}  // namespace

Result<const StringFormat*> string_format(std::string_view name) {
  // Never destroyed: other threads may parse while the process exits.
  static auto& mutex = *new std::mutex();
  static auto& formats = *new std::map<std::string, StringFormat, std::less<>>();
  for (const std::string_view unsupported : kUnsupported) {
    if (name == unsupported) {
      return {ErrorCode::kGrammar,
              "format " + quote_bytes(std::string(name)) + " is not supported"};
    }
  }
  const std::string pattern = pattern_of(name);
  if (pattern.empty()) return static_cast<const StringFormat*>(nullptr);
  const std::lock_guard lock(mutex);
  auto found = formats.find(name);
  if (found == formats.end()) found = formats.emplace(std::string(name), build(pattern)).first;
  return &found->second;
}

}  // namespace wl::grammar
