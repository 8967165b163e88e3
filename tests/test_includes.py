"""Includes go one way: core <- sdk <- cli, and each third-party library is known to the files that may know it."""
import pathlib
import re

import tree

# room: rooms whose files it may include by path, public headers it may include, third-party headers it may include
MAY = {
    "core": ({"core"}, {"core"}, ("idn2.h", "yaml.h", "openssl/evp.h", "openssl/sha.h", "jansson.h")),
    "sdk": ({"core", "sdk"}, {"core", "sdk"}, ("secp256k1", "openssl/", "jansson.h", "libwebsockets.h")),
    "cli": ({"cli"}, {"core", "sdk"}, ("jansson.h", "utf8proc.h", "md4c.h")),
    "examples": ({"examples"}, {"core", "sdk"}, ()),
}
# third-party header: the only files of sdk/ that may include it
ONLY = {
    "libwebsockets.h": re.compile(r"sdk/ws[a-z_]*\.[ch]"),
    "openssl/ssl.h": re.compile(r"sdk/(ws[a-z_]*|tls)\.[ch]"),
    "openssl/x509": re.compile(r"sdk/(ws[a-z_]*|tls)\.[ch]"),
}
PUBLIC = {pathlib.Path(name).name: name.split("/")[0] for name in tree.files("core/include/jobs/*.h", "sdk/include/jobs/*.h")}
THIRD_PARTY = re.compile(r"(secp256k1|openssl/|jansson|libwebsockets|idn2|yaml|utf8proc|md4c|cmocka)")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)

findings = []
checked = 0
for name in tree.files("core/*.[ch]", "sdk/*.[ch]", "cli/*.[ch]", "examples/*.[ch]"):
    parts = name.split("/")
    room = parts[0]
    if "tests" in parts or "fuzz" in parts:
        continue  # tests may look behind the curtain
    rooms, publics, libraries = MAY[room]
    public = "include" in parts
    for form, target in INCLUDE.findall(tree.text(name)):
        checked += 1
        if target.startswith("jobs/"):
            owner = PUBLIC.get(target.removeprefix("jobs/"))
            if owner not in publics or (public and owner == "sdk" and room == "core"):
                findings.append(f"{name}: includes <{target}>, which is not below {room}/")
        elif form == '"':
            path = (tree.SOURCE / name).parent.joinpath(target).resolve()
            inside = path.relative_to(tree.SOURCE) if path.is_relative_to(tree.SOURCE) and path.exists() else None
            if inside is None or inside.parts[0] not in rooms or public:
                findings.append(f'{name}: includes "{target}", which is not below {room}/')
        elif THIRD_PARTY.match(target):
            if public:
                findings.append(f"{name}: a public header shows <{target}>")
            elif not target.startswith(libraries):
                findings.append(f"{name}: {room}/ may not know <{target}>")
            for library, allowed in ONLY.items():
                if target.startswith(library) and not allowed.fullmatch(name):
                    findings.append(f"{name}: only {allowed.pattern} may know <{target}>")
tree.end(findings, checked)
