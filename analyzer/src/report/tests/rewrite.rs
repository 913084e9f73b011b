//! Rewriting: the same analysis with every text in it replaced, to try hostile text everywhere at once.

use crate::model::fix::Fix;
use crate::model::state::{GpuMap, PacketPath, Packing, RuntimeLayers, State};
use crate::model::*;

/// Applies `f` to the path of a place.
fn path_of(place: &mut Place, f: &mut dyn FnMut(&mut String)) {
    let mut path = place.path.to_string();
    f(&mut path);
    place.path = path.into();
}

/// Applies `f` to every string of the analysis.
pub(super) fn rewrite(analysis: &mut Analysis, f: &mut dyn FnMut(&mut String)) {
    input(&mut analysis.input, f);
    for found in &mut analysis.incidents {
        incident(found, f);
    }
    for cause in &mut analysis.differential {
        f(&mut cause.cause);
        f(&mut cause.title);
        f(&mut cause.why);
        cause.place.iter_mut().for_each(|at| path_of(at, f));
        cause.explained_by.iter_mut().for_each(&mut *f);
    }
    for noise in &mut analysis.benign {
        f(&mut noise.id);
        f(&mut noise.text);
        evidence(&mut noise.evidence, f);
    }
    for moment in &mut analysis.timeline {
        f(&mut moment.subject);
        f(&mut moment.text);
        path_of(&mut moment.place, f);
        moment.incident.iter_mut().for_each(&mut *f);
    }
    for source in &mut analysis.coverage {
        f(&mut source.source);
        f(&mut source.title);
        f(&mut source.outcome);
        source.why.iter_mut().for_each(&mut *f);
        source.missing.iter_mut().for_each(&mut *f);
        source.so_we_cannot_say.iter_mut().for_each(&mut *f);
    }
    for problem in &mut analysis.problems {
        path_of(&mut problem.place, f);
        f(&mut problem.text);
    }
    for workload in &mut analysis.impact.workloads {
        f(&mut workload.subject);
        f(&mut workload.state);
        path_of(&mut workload.place, f);
    }
    state(&mut analysis.state, f);
    let digests = std::mem::take(&mut analysis.digests);
    for (mut path, mut digest) in digests {
        f(&mut path);
        f(&mut digest.sha256);
        digest.truncated.iter_mut().for_each(&mut *f);
        analysis.digests.insert(path, digest);
    }
    f(&mut analysis.rules.digest);
    for item in &mut analysis.environment {
        f(&mut item.label);
        f(&mut item.value);
        item.place.iter_mut().for_each(|at| path_of(at, f));
    }
}

fn state(state: &mut State, f: &mut dyn FnMut(&mut String)) {
    for node in &mut state.nodes {
        f(&mut node.name);
        node.pressures.iter_mut().for_each(&mut *f);
        node.place.iter_mut().for_each(|at| path_of(at, f));
        for card in &mut node.cards {
            f(&mut card.bus_id);
            f(&mut card.name);
            card.trouble.iter_mut().for_each(&mut *f);
            card.place.iter_mut().for_each(|at| path_of(at, f));
        }
    }
    for part in &mut state.components {
        f(&mut part.component);
        f(&mut part.subject);
        f(&mut part.version);
        part.troubled.iter_mut().for_each(&mut *f);
        part.place.iter_mut().for_each(|at| path_of(at, f));
    }
    for row in &mut state.allocation {
        f(&mut row.namespace);
    }
    for row in &mut state.activity {
        f(&mut row.kind);
        f(&mut row.subject);
        f(&mut row.what);
        path_of(&mut row.place, f);
    }
    for path in &mut state.packet_paths {
        packet_path(path, f);
    }
    for layers in &mut state.runtime_layers {
        runtime_layers(layers, f);
    }
    for setting in state.hami.iter_mut().flat_map(|hami| &mut hami.settings) {
        f(&mut setting.name);
        f(&mut setting.value);
        path_of(&mut setting.place, f);
    }
    for release in state.hami.iter_mut().flat_map(|hami| &mut hami.releases) {
        f(&mut release.name);
        f(&mut release.version);
        f(&mut release.status);
        path_of(&mut release.place, f);
    }
    for webhook in state.hami.iter_mut().flat_map(|hami| &mut hami.webhooks) {
        f(&mut webhook.name);
        f(&mut webhook.failure_policy);
        path_of(&mut webhook.place, f);
    }
    for card in state.hami.iter_mut().flat_map(|hami| &mut hami.cards) {
        f(&mut card.node);
        f(&mut card.uuid);
        f(&mut card.kind);
        card.holders.iter_mut().for_each(&mut *f);
        card.place.iter_mut().for_each(|at| path_of(at, f));
    }
}

fn fix(fix: &mut Fix, f: &mut dyn FnMut(&mut String)) {
    f(&mut fix.why);
    for list in [
        &mut fix.opens,
        &mut fix.leaves_closed,
        &mut fix.assumes,
        &mut fix.not_shown,
        &mut fix.costs,
    ] {
        list.iter_mut().for_each(&mut *f);
    }
    for cause in [&mut fix.gone, &mut fix.remains, &mut fix.appears]
        .into_iter()
        .flatten()
    {
        f(&mut cause.cause);
        f(&mut cause.title);
    }
    for action in &mut fix.actions {
        for text in [
            &mut action.text,
            &mut action.expect,
            &mut action.roll_back,
            &mut action.interrupts,
        ] {
            f(text);
        }
        let optional = [
            &mut action.node,
            &mut action.check,
            &mut action.checks,
            &mut action.dry_run,
            &mut action.command,
        ];
        optional.into_iter().flatten().for_each(&mut *f);
    }
    for file in &mut fix.files {
        f(&mut file.name);
        f(&mut file.what);
        f(&mut file.content);
    }
    for delta in &mut fix.deltas {
        f(&mut delta.entry);
        f(&mut delta.diff);
    }
}

fn packet_path(path: &mut PacketPath, f: &mut dyn FnMut(&mut String)) {
    f(&mut path.node);
    f(&mut path.question);
    f(&mut path.packet);
    f(&mut path.verdict);
    f(&mut path.decided_by);
    for step in &mut path.steps {
        f(&mut step.chain);
        f(&mut step.rule);
        f(&mut step.does);
        step.place.iter_mut().for_each(|at| path_of(at, f));
    }
}

fn gpu_map(map: &mut GpuMap, f: &mut dyn FnMut(&mut String)) {
    f(&mut map.node);
    for card in &mut map.cards {
        f(&mut card.bus_id);
        f(&mut card.name);
        card.trouble.iter_mut().for_each(&mut *f);
        card.place.iter_mut().for_each(|at| path_of(at, f));
        for client in &mut card.clients {
            for text in [
                &mut client.name,
                &mut client.container,
                &mut client.pod,
                &mut client.owner,
            ] {
                f(text);
            }
        }
    }
    for holder in &mut map.holders {
        f(&mut holder.pod);
        f(&mut holder.owner);
        f(&mut holder.state);
        holder.place.iter_mut().for_each(|at| path_of(at, f));
    }
}

fn packed(packing: &mut Packing, f: &mut dyn FnMut(&mut String)) {
    for text in [
        &mut packing.pod,
        &mut packing.resource,
        &mut packing.request,
    ] {
        f(text);
    }
    for node in &mut packing.nodes {
        f(&mut node.node);
        f(&mut node.refused);
        node.holders.iter_mut().for_each(&mut *f);
        node.place.iter_mut().for_each(|at| path_of(at, f));
    }
}

fn runtime_layers(layers: &mut RuntimeLayers, f: &mut dyn FnMut(&mut String)) {
    f(&mut layers.node);
    f(&mut layers.instance);
    f(&mut layers.used_by_kubelet);
    for layer in &mut layers.layers {
        f(&mut layer.file);
        f(&mut layer.because);
        for setting in &mut layer.settings {
            f(&mut setting.name);
            f(&mut setting.value);
            setting.place.iter_mut().for_each(|at| path_of(at, f));
        }
    }
}

fn input(input: &mut Input, f: &mut dyn FnMut(&mut String)) {
    f(&mut input.name);
    f(&mut input.form);
    input.node.iter_mut().for_each(&mut *f);
    input.tool.iter_mut().for_each(&mut *f);
    input.interrupted.iter_mut().for_each(&mut *f);
}

fn evidence(lines: &mut [Evidence], f: &mut dyn FnMut(&mut String)) {
    for line in lines {
        path_of(&mut line.place, f);
        f(&mut line.text);
        f(&mut line.says);
    }
}

fn steps(steps: &mut [Step], f: &mut dyn FnMut(&mut String)) {
    for step in steps {
        f(&mut step.text);
        step.command.iter_mut().for_each(&mut *f);
        step.expect.iter_mut().for_each(&mut *f);
    }
}

fn incident(incident: &mut Incident, f: &mut dyn FnMut(&mut String)) {
    for text in [
        &mut incident.id,
        &mut incident.cause,
        &mut incident.title,
        &mut incident.summary,
        &mut incident.explanation,
        &mut incident.look_alikes,
        &mut incident.remedy.title,
    ] {
        f(text);
    }
    for list in [
        &mut incident.subjects,
        &mut incident.would_refute,
        &mut incident.would_settle,
        &mut incident.references,
        &mut incident.remedy.mitigate,
        &mut incident.remedy.prevent,
    ] {
        list.iter_mut().for_each(&mut *f);
    }
    evidence(&mut incident.evidence, f);
    incident.fix.iter_mut().for_each(|one| fix(one, f));
    for symptom in &mut incident.symptoms {
        f(&mut symptom.id);
        f(&mut symptom.text);
        evidence(&mut symptom.evidence, f);
    }
    for link in &mut incident.chain {
        f(&mut link.from);
        f(&mut link.to);
    }
    for observation in &mut incident.observations {
        f(&mut observation.question);
        f(&mut observation.command);
        f(&mut observation.conclusion);
        evidence(&mut observation.lines, f);
    }
    for table in &mut incident.tables {
        f(&mut table.title);
        table.columns.iter_mut().for_each(&mut *f);
        for cell in table.rows.iter_mut().flatten() {
            f(&mut cell.text);
            cell.place.iter_mut().for_each(|at| path_of(at, f));
        }
    }
    for figure in &mut incident.figures {
        match figure {
            Figure::PacketPath(path) => packet_path(path, f),
            Figure::RuntimeLayers(layers) => runtime_layers(layers, f),
            Figure::GpuMap(map) => gpu_map(map, f),
            Figure::Packing(packing) => packed(packing, f),
        }
    }
    steps(&mut incident.remedy.steps, f);
    steps(&mut incident.remedy.verify, f);
    for file in &mut incident.remedy.files {
        f(&mut file.name);
        f(&mut file.language);
        f(&mut file.content);
    }
}
