//! Commands for people run where there is no internet: with images that the reader names, and names of the site.

use regex::Regex;

use crate::rules;

#[test]
fn no_command_of_a_rule_needs_an_image_or_a_name_of_the_internet() {
    let (set, _) = rules::load(None).unwrap();
    // An image is a blank that the reader fills in, never one that has to be pulled from outside.
    let image = Regex::new(
        r#"(?:--image[= ]|crictl pull |docker pull |nerdctl pull |"image":\s*")([a-z][^\s"]*)"#,
    )
    .unwrap();
    let asked = Regex::new(
        r"\b(?:nslookup|dig|host|ping|getent (?:hosts|ahosts)|curl|wget)\s[^|;&]*?\b((?:[a-z0-9-]+\.)+(?:com|org|io|net|dev|ai))\b",
    );
    let asked = asked.unwrap();
    let mut all = 0;
    let mut wrong = Vec::new();
    for rule in &set.rules {
        let file = &rule.file;
        let steps = file.remedy.steps.iter().chain(&file.remedy.verify);
        let mut own: Vec<&String> = steps.filter_map(|step| step.run.as_ref()).collect();
        own.extend(file.observations.iter().map(|one| &one.run));
        all += own.len();
        for command in own {
            if image.is_match(command) || asked.is_match(command) {
                wrong.push(format!("{}: {command}", file.id));
            }
        }
    }
    assert!(all > 300, "only {all} commands were looked at");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
