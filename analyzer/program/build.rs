//! How a debug build of the program is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set == value);
    // A changed rule waits for linking and little else: to look for what nobody calls is a fifth of it, a digest of the file
    // and the search for equal strings are as much; line tables and a file that can lie at any address are a tenth.
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") {
        for flag in [
            "--no-gc-sections",
            "--build-id=none",
            "-O0",
            "--strip-debug",
        ] {
            println!("cargo:rustc-link-arg-bins=-Wl,{flag}");
        }
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
